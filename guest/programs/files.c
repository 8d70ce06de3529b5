/* Files and directories below the working directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    mkdir("made", 0755);
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "made/file%d", i);
        FILE *out = fopen(name, "w");
        for (int k = 0; k <= i; k++)
            fprintf(out, "line %d of %d\n", k, i);
        fclose(out);
    }
    DIR *dir = opendir("made");
    int entries = 0;
    for (struct dirent *e; (e = readdir(dir));)
        entries += e->d_name[0] != '.';
    closedir(dir);
    struct stat info;
    stat("made/file2", &info);
    printf("%d entries, file2 has %lld bytes, %s\n", entries, (long long)info.st_size,
           S_ISREG(info.st_mode) ? "regular" : "odd");
    int fd = open("made/file2", O_RDWR);
    char *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    printf("mapped: %.9s\n", map);
    munmap(map, (size_t)info.st_size);
    lseek(fd, 5, SEEK_SET);
    if (write(fd, "X", 1) != 1) return 1;
    char back[16] = {0};
    pread(fd, back, 8, 0);
    printf("back: %s\n", back);
    ftruncate(fd, 4);
    fstat(fd, &info);
    printf("truncated to %lld\n", (long long)info.st_size);
    close(fd);
    rename("made/file0", "made/renamed");
    symlink("renamed", "made/link");
    char target[64] = {0};
    readlink("made/link", target, sizeof target - 1);
    printf("link to %s, access %d\n", target, access("made/link", R_OK));
    errno = 0;
    printf("missing: %d %s\n", open("made/file0", O_RDONLY), strerror(errno));
    for (int i = 1; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "made/file%d", i);
        unlink(name);
    }
    unlink("made/link");
    unlink("made/renamed");
    printf("rmdir %d\n", rmdir("made"));
    return 0;
}
