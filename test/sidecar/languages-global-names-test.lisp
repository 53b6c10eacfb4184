(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-global-names (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-global-names)

(defparameter *lua*
  (lines "local M = {}"                                         ; 1
         "local json = require(\"cjson.safe\")"                 ; 2
         "local function helper(a, b)"                          ; 3
         "  if a then return b end"                             ; 4
         "  for i = 1, 10 do print(i) end"                      ; 5
         "  repeat a = a - 1 until a == 0 -- end"               ; 6
         "  return function(x) return [[end]] end"              ; 7
         "end"                                                  ; 8
         "function M.run(x)"                                    ; 9
         "  M.stop(helper(x))"                                  ; 10
         "  return json.encode {x}"                             ; 11
         "end"                                                  ; 12
         "function M:method() self:other() end"                 ; 13
         "M.stop = function(y) end"                             ; 14
         "describe('suite', function()"                         ; 15
         "  it('does', function() M.run(1) end)"                ; 16
         "end)"))                                               ; 17

(deftest lua-sources
  (check-equal '("variable M 1" "function helper 3-8" "function run 9-12<M" "method method 13<M" "function stop 14<M")
               (definitions "a.lua" *lua*))
  (check-equal '("require:2" "helper>print:5" "run>stop:10" "run>helper:10" "run>encode:11" "method>other:13" "describe:15" "it:16" "run:16")
               (calls "a.lua" *lua*))
  (check-equal '("json=* of cjson.safe") (imports "a.lua" *lua*))
  (check-equal '("suite 15-17" "does 16-16<suite") (tests "a.lua" *lua*)))

(defparameter *shell*
  (lines "#!/bin/bash"                                          ; 1
         ". ./lib.sh"                                           ; 2
         "source \"$DIR/other.sh\""                             ; 3
         "log() {"                                              ; 4
         "  echo \"x $(date_now) log\" # log"                   ; 5
         "}"                                                    ; 6
         "function date_now { date; }"                          ; 7
         "main() {"                                             ; 8
         "  if log 'log'; then"                                 ; 9
         "    for x in a b; do log $x | filter; done"           ; 10
         "  fi"                                                 ; 11
         "  case $1 in"                                         ; 12
         "    log) log b ;;"                                    ; 13
         "  esac"                                               ; 14
         "  local y=$(date_now) log=1"                          ; 15
         "  cat <<EOT"                                          ; 16
         "} log"                                                ; 17
         "EOT"                                                  ; 18
         "}"                                                    ; 19
         "main \"$@\""))                                        ; 20

(deftest shell-sources
  (check-equal '("function log 4-6" "function date_now 7" "function main 8-19") (definitions "a.sh" *shell*))
  (check-equal '("source:3" "log>echo:5" "log>date_now:5" "date_now>date:7" "main>log:9" "main>log:10" "main>filter:10" "main>log:13"
                 "main>date_now:15" "main>cat:16" "main:20")
               (calls "a.sh" *shell*))
  (check-equal '("=* of ./lib.sh" "=* of other.sh") (imports "a.sh" *shell*)))

(deftest perl-sources
  (let ((source (lines "package Foo::Bar;"                      ; 1
                       "use parent -norequire, 'Foo::Base';"    ; 2
                       "use constant { A => 1, B => 2 };"       ; 3
                       "use Data::Dumper qw(Dumper);"           ; 4
                       "sub new {"                              ; 5
                       "  my ($class, %args) = @_;"             ; 6
                       "  my $self = bless { name => $args{name}, sub => 1 }, $class; # sub x {"  ; 7
                       "  $self->_init(trim(1)) if $self->{new} =~ s/sub {/}/g;" ; 8
                       "  return Foo::Baz->new(1)->run;"        ; 9
                       "}"                                      ; 10
                       "sub _init { Foo::Util::go() }"          ; 11
                       "package Other;"                         ; 12
                       "sub helper { 1 }"                       ; 13
                       "__END__"                                ; 14
                       "sub no { }")))                          ; 15
    (check-equal '("package Foo::Bar 1-11" "constant A 3<Foo::Bar" "constant B 3<Foo::Bar" "method new 5-10<Foo::Bar" "method _init 11<Foo::Bar"
                   "package Other 12-13" "method helper 13<Other")
                 (definitions "Bar.pm" source))
    (check-equal '("new>_init:8" "new>trim:8" "new>new:9" "new>run:9" "_init>go:11") (calls "Bar.pm" source))
    (check-equal '("=* of Data::Dumper") (imports "Bar.pm" source))))

(deftest r-sources
  (let ((source (lines "library(dplyr)" "foo <- function(a, b = bar(1)) {" "  lapply(b, function(z) baz(z)) # no(1)" "}"
                       "helper = function(a) dplyr::filter(a) +" "  1" "Acc <- R6Class('Acc', public = list(add = function(n) { foo(n) }))"
                       "test_that('works', { expect_equal(foo(1), 2) })")))
    (check-equal '("function foo 2-4" "function helper 5-6" "class Acc 7" "function add 7") (definitions "a.R" source))
    (check-equal '("library:1" "foo>bar:2" "foo>lapply:3" "foo>baz:3" "helper>filter:5" "R6Class:7" "list:7" "add>foo:7" "test_that:8"
                   "expect_equal:8" "foo:8")
                 (calls "a.R" source))
    (check-equal '("works 8-8") (tests "a.R" source))))

(deftest julia-sources
  (let ((source (lines "module Foo"                             ; 1
                       "using LinearAlgebra, Base.Threads: spawn" ; 2
                       "abstract type Shape end"                ; 3
                       "struct Circle{T} <: Shape"              ; 4
                       "    r::T"                               ; 5
                       "end"                                    ; 6
                       "area(c::Circle) = pi * square(c.r)"     ; 7
                       "function run(xs; k=1) where T"          ; 8
                       "    for x in xs"                        ; 9
                       "        if x > 1; println(xs[end]) end" ; 10
                       "    end"                                ; 11
                       "    ys = [f(x) for x in xs if x > 0]"   ; 12
                       "    map(xs) do x area(x) end"           ; 13
                       "    return :end"                        ; 14
                       "end"                                    ; 15
                       "macro m(x) quote $x end end"            ; 16
                       "@testset \"all\" begin"                 ; 17
                       "    @test run([1]) == 2"                ; 18
                       "end"                                    ; 19
                       "end")))                                 ; 20
    (check-equal '("module Foo 1-20" "type Shape 3" "struct Circle 4-6" "field r 5<Circle" "function area 7<Foo" "function run 8-15<Foo"
                   "macro m 16<Foo")
                 (definitions "a.jl" source))
    (check-equal '("area>square:7" "run>println:10" "run>f:12" "run>map:13" "run>area:13" "Foo>@testset:17" "Foo>@test:18" "Foo>run:18")
                 (calls "a.jl" source))
    (check-equal '("all 17-19") (tests "a.jl" source))))

(deftest global-names-say-how-sure-they-are
  (check-equal '("bin/a.sh:2 from_lib > lib/l.sh:1" "bin/a.sh:3 near > bin/b.sh:1 likely" "bin/a.sh:4 far > other/c.sh:1 possible")
               (edges-of (list (cons "bin/a.sh" (lines ". ../lib/l.sh" "from_lib" "near" "far" "nowhere")) (cons "bin/b.sh" (lines "near() { :; }"))
                                       (cons "lib/l.sh" (lines "from_lib() { :; }")) (cons "other/c.sh" (lines "far() { :; }"))))))
