/* Arguments, environment, standard streams, exit status. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    printf("hello, world\n");
    for (int i = 1; i < argc; i++)
        printf("argument %d: %s\n", i, argv[i]);
    const char *value = getenv("CHILIAD_TEST");
    printf("environment: %s\n", value ? value : "(unset)");
    char line[100];
    while (fgets(line, sizeof line, stdin))
        printf("input: %s", line);
    fprintf(stderr, "to standard error\n");
    return argc > 1 ? atoi(argv[1]) : 0;
}
