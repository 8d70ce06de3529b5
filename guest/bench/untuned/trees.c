/* Builds, walks and frees many binary trees. */
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 16 };

struct tree {
    struct tree *left, *right;
};

static struct tree *build(int depth)
{
    struct tree *t = malloc(sizeof *t);
    t->left = depth ? build(depth - 1) : NULL;
    t->right = depth ? build(depth - 1) : NULL;
    return t;
}

static int count(const struct tree *t)
{
    return t->left ? 1 + count(t->left) + count(t->right) : 1;
}

static void release(struct tree *t)
{
    if (t->left) {
        release(t->left);
        release(t->right);
    }
    free(t);
}

int main(void)
{
    struct tree *kept = build(DEPTH);
    for (int depth = 4; depth <= DEPTH; depth += 6) {
        int trees = 1 << (DEPTH - depth + 4), nodes = 0;
        for (int i = 0; i < trees; i++) {
            struct tree *t = build(depth);
            nodes += count(t);
            release(t);
        }
        printf("%d trees of depth %d: %d nodes\n", trees, depth, nodes);
    }
    printf("kept: %d nodes\n", count(kept));
    release(kept);
    return 0;
}
