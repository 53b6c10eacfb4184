package com.example.shop

import com.example.db.Store
import kotlin.math.*

typealias Price = Long

const val MAX = 10
val defaultName: String = buildName("x")

interface Repo<T> {
    val size: Int
    fun find(id: Int): T?
    fun all(): List<T> = listOf()
}

enum class Color(val rgb: Int) {
    RED(0xff0000),
    GREEN(0x00ff00) {
        override fun show() = "g"
    };

    open fun show(): String = name
}

data class Item(val id: Int, var name: String = "none")

sealed class Shape {
    object Empty : Shape()
    class Circle(val r: Double) : Shape() {
        fun area(): Double {
            return Math.PI * r * r
        }
    }
}

class Service(private val store: Store, count: Int) : Base(count), Repo<Item> {
    private val cache = HashMap<Int, Item>()
    override val size: Int
        get() = cache.size

    init {
        println("start")
    }

    constructor(store: Store) : this(store, 1)

    override fun find(id: Int): Item? {
        val found = cache[id] ?: store.load(id)
        cache.forEach { (k, v) -> log(k) }
        found?.let { log(it.name) }
        return found
    }

    companion object {
        fun create(s: Store): Service = Service(s)
    }
}

fun String.shout(): String = this.uppercase()

fun <T> List<T>.second(): T = this[1]

@Test
fun testThing() {
    val s = Service.create(Store())
    if (s.size > 1) {
        s.find(1)
    } else run()
    fun local(x: Int) = x + 1
    local(2)
    "value ${s.find(2)}".shout()
}
