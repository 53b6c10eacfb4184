const std = @import("std");
const Allocator = std.mem.Allocator;

pub const Color = enum { red, green };

pub const Point = struct {
    x: f32,
    y: f32 = 0,

    const Self = @This();

    pub fn init(x: f32, y: f32) Point {
        return Point{ .x = x, .y = y };
    }

    pub fn length(self: Self) f32 {
        return std.math.sqrt(self.x * self.x + square(self.y));
    }
};

fn square(v: f32) f32 {
    return v * v;
}

pub fn main() !void {
    const p = Point.init(1, 2);
    if (p.length() > 2) {
        try print("{}", .{p});
    }
    defer cleanup();
}

test "square works" {
    try std.testing.expect(square(2) == 4);
}
