import Foundation

protocol Shape {
    var area: Double { get }
    func draw(on canvas: Canvas) throws -> Bool
}

public struct Point: Equatable {
    let x: Double
    var y: Double = 0
    static let origin = Point(x: 0, y: 0)

    init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    var length: Double {
        return sqrt(x * x + y * y)
    }

    static func == (a: Point, b: Point) -> Bool {
        return a.x == b.x
    }

    subscript(index: Int) -> Double { return index == 0 ? x : y }
}

enum Direction: String {
    case north, south
    case east = "e"
    indirect case path(Direction, Int)

    func turned() -> Direction {
        switch self {
        case .north: return .south
        case .east: return flip(self)
        default: return .north
        }
    }
}

final class Painter<T: Shape>: NSObject, Drawer {
    private lazy var items: [T] = makeItems()

    @discardableResult
    func paint(_ shapes: [T], with color: Color = Color.red) async -> Int {
        guard let first = shapes.first else { return 0 }
        let total = shapes.map { $0.area }.reduce(0, +)
        shapes.forEach { shape in
            render(shape)
        }
        if let p = find(first) { p.draw() }
        return count(total)
    }

    deinit { cleanup() }
}

extension Painter where T == Circle {
    func extra() { paint([]) }
}

typealias Handler = (Int) -> Void

func topLevel(_ a: Int, b: String) -> String {
    return "\(describe(a)) \(b)"
}
