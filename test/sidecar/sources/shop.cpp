#include <vector>
#include "shape.h"
#define SQUARE(x) ((x) * (x))

namespace geo {

template <typename T>
class Stack : public Base<T>, private Other {
public:
  Stack(int n) : size_(n), data_(make(n)) { init(); }
  virtual ~Stack() {}
  void push(const T& value) { data_.push_back(value); }
  T pop();
  int size() const noexcept { return size_; }
  static Stack* create() { return new Stack(1); }
  Stack& operator=(const Stack& other) { copy(other); return *this; }
  enum class Mode { Fast, Slow };
private:
  int size_ = 0;
  std::vector<T> data_;
};

struct Point {
  double x, y;
  double length() const;
};

double Point::length() const {
  return std::sqrt(SQUARE(x) + SQUARE(y));
}

template <typename T>
T Stack<T>::pop() {
  auto v = data_.back();
  data_.pop_back();
  return v;
}

using Points = std::vector<Point>;
typedef int (*Handler)(int);
static const int kMax = 3;

int helper(int a, char* b = nullptr) {
  for (auto& p : points()) { p.length(); }
  std::unique_ptr<Point> q = std::make_unique<Point>(1);
  auto f = [&](int x) { return helper(x); };
  if (a > 1) return static_cast<int>(f(a));
  Point local(1, 2);
  return q->length() + run();
}

}  // namespace geo

TEST(Suite, works) {
  EXPECT_EQ(geo::helper(1), 2);
}
int main() { return geo::helper(1); }
