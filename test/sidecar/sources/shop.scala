package com.example

import scala.collection.mutable.{Map => MMap, Set}
import java.util._

trait Animal {
  def name: String
  def speak(): Unit = println(name)
}

case class Dog(name: String, age: Int) extends Animal with Pet

object Dog {
  val Default = new Dog("rex", 3)
  def apply(n: String): Dog = new Dog(n, 0)
  private def helper[T](x: T)(implicit ev: Ordering[T]): List[T] = {
    List(x).map { y => transform(y) }
  }
}

abstract class Service(store: Store) {
  type Id = Int
  var count = 0
  lazy val cache = MMap.empty[Id, Dog]

  def find(id: Id): Option[Dog] =
    cache.get(id).orElse(store.load(id))

  def run(): Unit = {
    for (i <- 0 until 10) {
      process(i)
    }
    count match {
      case 0 => zero()
      case n if n > 1 => many(n)
    }
  }
}
