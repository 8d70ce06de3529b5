/* The NAS kernel BT (guest/nas/bt.c) on two cores, counted by the counter unit: one table of all
 * that both cores and their L2s did. BT is compiled with -Dmain=bt_main.
 */
#include <omp.h>
#include <spi/UPC.h>
#include <stdio.h>
#include <string.h>

int bt_main(int argc, char **argv);

int main(int argc, char **argv)
{
    omp_set_num_threads(2);
    BGP_UPC_Initialize();
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
    BGP_UPC_Start(0);
    int status = bt_main(argc, argv);
    BGP_UPC_Stop();
    for (int event = 0; event < 256; event++) {
        char name[80];
        if (BGP_UPC_Get_Event_Name(event, sizeof name, name) || strncmp(name, "BGP_PU", 6) != 0)
            continue;
        printf("%-45s %12lld\n", name,
               (long long)BGP_UPC_Read_Counter(event, BGP_UPC_READ_EXCLUSIVE));
    }
    return status;
}
