/* Pairs of sockets between processes and threads of one program: the same output on every Linux. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int got_pipe;

static void on_pipe(int number)
{
    (void)number;
    got_pipe++;
}

/* Sends back each byte + 1 until the end of the stream. */
static void echo(int s)
{
    unsigned char bytes[1000];
    long sum = 0;
    for (ssize_t n; (n = read(s, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < n; i++)
            bytes[i]++;
        sum += n;
        for (ssize_t done = 0; done < n;)
            done += send(s, bytes + done, (size_t)(n - done), 0);
    }
    printf("child: %ld bytes\n", sum);
    fflush(stdout);
}

static void *echo_thread(void *s)
{
    echo(*(int *)s);
    shutdown(*(int *)s, SHUT_WR);
    return NULL;
}

/* 300 bytes at a time there and back, then the end in one direction. */
static void dialog(int s)
{
    unsigned char bytes[300], back[300];
    unsigned long sum = 0;
    for (int round = 0; round < 500; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(i + (size_t)round);
        if (write(s, bytes, sizeof bytes) != sizeof bytes) perror("write");
        if (recv(s, back, sizeof back, MSG_WAITALL) != sizeof back) perror("recv");
        for (size_t i = 0; i < sizeof back; i++)
            sum = sum * 31 + back[i];
    }
    shutdown(s, SHUT_WR);
    printf("dialog %lx, end %zd\n", sum & 0xffffffff, read(s, back, 1));
}

static void look(int *s)
{
    char text[20] = "";
    struct stat status;
    struct pollfd both[2] = {{s[0], POLLIN | POLLOUT, 0}, {s[1], POLLIN | POLLOUT, 0}};
    int waiting = -1, type = -1;
    socklen_t size = sizeof type;
    fstat(s[0], &status);
    printf("socket %d, poll %d:", S_ISSOCK(status.st_mode), poll(both, 2, 0));
    printf(" %x %x\n", both[0].revents, both[1].revents);
    printf("sent %zd\n", send(s[0], "hello", 5, MSG_NOSIGNAL));
    ioctl(s[1], FIONREAD, &waiting);
    getsockopt(s[1], SOL_SOCKET, SO_TYPE, &type, &size);
    printf("waiting %d, type %d, poll %d:", waiting, type == SOCK_STREAM, poll(both, 2, 0));
    printf(" %x %x\n", both[0].revents, both[1].revents);
    printf("peek %zd", recv(s[1], text, 3, MSG_PEEK | MSG_DONTWAIT));
    printf(" '%s', read %zd", text, recv(s[1], text, sizeof text - 1, 0));
    printf(" '%s'\n", text);
    printf("nothing %zd", recv(s[1], text, 1, MSG_DONTWAIT));
    printf(" %d, seek %d", errno == EAGAIN, (int)lseek(s[0], 0, SEEK_SET));
    printf(" %d\n", errno == ESPIPE);
}

static void messages(int *s)
{
    char a[4] = "", b[8] = "";
    struct iovec out[2] = {{"abc", 3}, {"defgh", 5}}, in[2] = {{a, 3}, {b, 7}};
    struct msghdr message = {.msg_iov = out, .msg_iovlen = 2};
    printf("sendmsg %zd", sendmsg(s[0], &message, 0));
    message.msg_iov = in;
    printf(", recvmsg %zd", recvmsg(s[1], &message, 0));
    printf(" '%s' '%s' %d\n", a, b, (int)message.msg_flags);
}

static void ends(int *s)
{
    char byte;
    struct pollfd one = {s[0], POLLIN | POLLOUT, 0};
    write(s[1], "xy", 2);
    close(s[1]);
    printf("poll %d %x\n", poll(&one, 1, 0), one.revents & (POLLIN | POLLOUT | POLLHUP));
    printf("read %zd %zd %zd\n", read(s[0], &byte, 1), read(s[0], &byte, 1), read(s[0], &byte, 1));
    printf("send %zd", send(s[0], "x", 1, MSG_NOSIGNAL));
    printf(" %d, signals %d\n", errno == EPIPE, got_pipe);
    printf("write %zd", write(s[0], "x", 1));
    printf(" %d, signals %d\n", errno == EPIPE, got_pipe);
    close(s[0]);
}

int main(void)
{
    int s[2], t[2], p[2];
    signal(SIGPIPE, on_pipe);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return perror("socketpair"), 1;
    look(s);
    messages(s);
    pid_t child = fork();
    if (!child) {
        close(s[0]);
        echo(s[1]);
        _exit(0);
    }
    close(s[1]);
    dialog(s[0]);
    close(s[0]);
    waitpid(child, NULL, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, t)) return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, echo_thread, &t[1]);
    dialog(t[0]);
    pthread_join(thread, NULL);
    close(t[1]);
    close(t[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s)) return 1;
    ends(s);
    printf("shutdown of a pipe %d", pipe(p) || shutdown(p[0], SHUT_RD));
    printf(" %d\n", errno == ENOTSOCK);
    return 0;
}
