import 'dart:async';
import 'package:app/model.dart' as model;

typedef Callback = void Function(int);

const int maxItems = 10;
final store = Store();

enum Status { idle, running }

abstract class Shape {
  double get area;
  void draw(Canvas canvas);
}

mixin Loud on Shape {
  void shout() => print(area);
}

class Circle extends Shape with Loud implements Comparable<Circle> {
  final double r;
  static int count = 0;
  late String _name;

  Circle(this.r, {String name = 'c'}) : _name = name, super() {
    count++;
    register(this);
  }
  Circle.unit() : this(1);
  factory Circle.fromJson(Map<String, dynamic> json) => Circle(json['r']);

  @override
  double get area => pi * r * r;
  set name(String v) { _name = v; }

  @override
  void draw(Canvas canvas) {
    canvas.circle(r);
    final items = load().map((x) => wrap(x)).toList();
    for (var i in items) {
      use(i);
    }
    builder..add(1)..flush();
  }

  Future<int> fetch(int id) async {
    final res = await client.get(id);
    return parse(res);
  }

  bool operator ==(Object other) => other is Circle && same(other);
}

extension Strings on String {
  String twice() => this + this;
}

Future<void> main(List<String> args) async {
  test('adds', () { expect(add(1), 2); });
  print('hello ${describe(1)}');
}
