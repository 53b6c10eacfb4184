package shop

import (
	"fmt"
	. "strings"
	yaml "gopkg.in/yaml.v3"
	_ "embed"
	"example.com/shop/store/v2"
)

const limit, least = 10, 1

var (
	handler = func(n int) int { return double(n) }
	_ Item = (*thing)(nil)
)

type Item interface {
	fmt.Stringer
	Price(tax float64) (int, error)
}

type Stack[T any] struct {
	*store.Base
	items []T `json:"items"`
	open, closed bool
	inner struct {
		deep int
	}
}

type Name = string
type Prices map[string]Item

func (s *Stack[T]) Push(values ...T) *Stack[T] {
	s.items = append(s.items, values...)
	return s.Push()
}

func Map[T, U any](list []T, f func(T) U) (out []U) {
	for i, v := range list {
		out = append(out, f(v))
		_ = i
	}
	return
}

func double(n int) int {
	twice := func(m int) int { return m * 2 }
	if p, err := find(Name("x")); err == nil && p.Price(1) > 0 {
		return twice(n)
	}
	switch x := any(n).(type) {
	case Item:
		x.Price(2)
	case fmt.Stringer:
		_ = x.String()
	}
	defer release()
	go func() { work(Prices{"a": make1()}) }()
	return Map[int, string]([]int{n}, func(i int) string { return yaml.Name(i) })[0].Len()
}

func TestDouble(t *testing.T) {
	t.Run("twice", func(t *testing.T) { check(t, double(2)) })
}
