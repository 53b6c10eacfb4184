#include <stdio.h>
#include "shop.h"
#ifndef SHOP_C
#define SHOP_C
#endif
#define LIMIT 10
#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))
#define OP(name) static int op_##name(int a) { return run_##name(a); }
#define shop_init shop_start

typedef struct item {
  int id;
  const char *name, *other;
  int (*price)(struct item *, int);
  struct { int deep; } inner;
} item_t;
typedef int (*visit_fn)(item_t *);
enum color { RED, GREEN = 2 };
union any { int i; float f; };

static item_t items[LIMIT] = { { 1, NAME("a") } };
extern int count;
int declared(int a, char *b);
OP(add)
OP(sub)

static inline const char *label(const item_t *it, visit_fn visit)
{
  int total = MAX(it->id, 2);
  visit_fn cb = visit;
  if (cb(it) && it->price(it, 1))
    return find(LIMIT);
#ifdef DEBUG
  if (total) {
#else
  if (!total) {
#endif
    trace("x");
  }
  for (int i = 0; i < 3; i++) step(i);
  return (char *) make(sizeof(int));
}

int shop_init(void) { return label(items, 0) != NULL; }

int old(a, b)
  int a;
  char *b;
{
  return a;
}

MODULE(shop)
