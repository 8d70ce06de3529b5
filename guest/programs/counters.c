/* The call-through and BGLCounters from inside a program. */
#include <errno.h>
#include <stdio.h>

#include "bglcounters.h"
#include "chiliad/callthru.h"

static volatile double values[1000];

int main(void)
{
    static volatile unsigned long bad = 16;
    uint64_t user[BGLCOUNTERS], kernel[BGLCOUNTERS], again[BGLCOUNTERS];
    int status = BGLCounters_Init();
    printf("init %d\n", status);
    if (status) return 1;
    printf("unknown service %ld, task switch %ld\n", chiliad_callthru(999, 0, 0),
           chiliad_callthru(CHILIAD_TASK_SWITCH, 5, 0));
    double one = values[0] + 1;
    BGLCounters_Start();
    for (int i = 0; i < 1000; i++)
        values[i] = values[i] + one;
    BGLCounters_Stop();
    for (int i = 0; i < 1000; i++)
        values[i] = values[i] * 2; /* not counted */
    BGLCounters_Read(user, kernel);
    BGLCounters_Read(again, NULL);
    for (int i = 0; i < BGLCOUNTERS; i++)
        if (user[i] != again[i] || kernel[i]) printf("counter %d differs\n", i);
    printf("%s %llu, %s %llu, %s %llu\n", BGLCounters_Name(10), (unsigned long long)user[10], BGLCounters_Name(11),
           (unsigned long long)user[11], BGLCounters_Name(14), (unsigned long long)user[14]);
    printf("bad buffer %d\n", BGLCounters_Read((uint64_t *)bad, NULL) == -EFAULT);
    BGLCounters_Select(1);
    BGLCounters_Reset();
    BGLCounters_Start();
    BGLCounters_Stop();
    BGLCounters_Read(user, NULL);
    printf("selected %d, others %llu, names %d\n", user[0] > 0, (unsigned long long)user[14],
           BGLCounters_Name(64) == NULL && BGLCounters_Name(-1) == NULL);
    return 0;
}
