package com.example.shop;

import com.example.db.Store;
import static com.example.Tax.*;
import static com.example.Tax.rate;
import java.util.*;

/** Not a class Doc { } */
public abstract class Shop<T extends Item> extends Base<T> implements Countable, Sized {
  private final Map<String, List<T>> items = new HashMap<String, List<T>>(), others;
  static final int LIMIT = 3;
  { setUp(); }

  public Shop(Store store) {
    super(store);
    this.items.put("a", List.of(store.<T>first()));
  }

  @Override
  public <U> @Nullable U find(int id, String... names) throws Missing {
    T item = (T) store.load(id);
    for (T one : all()) one.touch();
    Runnable later = () -> close(item);
    names.forEach(name -> log(name));
    items.values().stream().map(Item::price).toArray(Object[]::new);
    if (item instanceof Special special && special.ok()) {
      return new Visitor<U>() {
        @Override public U visit(T t) { return make(t); }
      }.visit(item);
    }
    return id > 1 ? left() : right();
  }

  abstract int size();

  enum Color implements Sized {
    RED(1) { int code() { return shade(); } },
    GREEN(2);
    Color(int n) {}
    int code() { return 0; }
  }

  record Point(int x, int y) {
    Point { check(x); }
  }

  @interface Marked { int value() default 1; }
}

class ShopTest {
  @Test void opens() { assertTrue(new Shop.Point(1, 2).x() > 0); }
}
