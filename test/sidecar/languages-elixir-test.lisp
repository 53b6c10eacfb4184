(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-elixir (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-elixir)

(defparameter *shop*
  (lines "defmodule Trade.Shop do"                              ; 1
         "  alias Trade.{Shelf, Lock}"                          ; 2
         "  alias Trade.Stock, as: S"                           ; 3
         "  import Trade.Weights"                               ; 4
         "  @doc ~S'''"                                         ; 5
         "  def not_code, do: \"x\" end"                        ; 6
         "  '''"                                                ; 7
         "  @type item :: map"                                  ; 8
         "  def open(path, opts \\\\ []) when is_list(opts) do" ; 9
         "    fun = fn x -> check?(x) end"                      ; 10
         "    if ready?(path), do: Shelf.fill(path), else: :end" ; 11
         "    path |> S.load() |> trim"                         ; 12
         "    %{end: 1, do: \"#{label(path)} end\"}"            ; 13
         "  end"                                                ; 14
         "  def open(_), do: nil"                               ; 15
         "  defp check?(x),"                                    ; 16
         "    do:"                                              ; 17
         "      weigh(x) +"                                     ; 18
         "        1"                                            ; 19
         "  defmacro twice(x) do quote do: unquote(x) end"      ; 20
         "  defmodule Inner do def go, do: :ok end"             ; 21
         "end"))                                                ; 22

(deftest elixir-definitions
  (check-equal '("module Trade.Shop 1-22" "type item 8<Trade.Shop" "function open 9-14<Trade.Shop" "function open 15<Trade.Shop"
                 "function check? 16-19<Trade.Shop" "macro twice 20<Trade.Shop" "module Inner 21<Trade.Shop" "function go 21<Inner")
               (definitions "shop.ex" *shop*)))

(deftest elixir-calls
  (check-equal '("open>is_list:9" "open>check?:10" "open>ready?:11" "open>fill:11" "open>load:12" "open>trim:12" "open>label:13" "check?>weigh:18")
               (calls "shop.ex" *shop*)))

(deftest elixir-imports
  (check-equal '("Shelf=Shelf of Trade.Shelf" "Lock=Lock of Trade.Lock" "S=Stock of Trade.Stock" "=* of Trade.Weights")
               (imports "shop.ex" *shop*)))

(deftest elixir-tests-are-marked
  (check-equal '("opening 2-5" "opens 3-4<opening")
               (tests "shop_test.exs" (lines "defmodule ShopTest do" "  describe \"opening\" do" "    test \"opens\", %{conn: conn} do" "    end"
                                             "  end" "end"))))

(deftest elixir-resolution
  (check-equal '("lib/shop.ex:4 fill > lib/shelf.ex:2" "lib/shop.ex:4 weigh > lib/shelf.ex:3" "lib/shop.ex:5 open > lib/shop.ex:4")
               (edges-of (list (cons "lib/shelf.ex" (lines "defmodule Trade.Shelf do" "  def fill(x), do: x" "  def weigh(x), do: x" "end"))
                               (cons "lib/shop.ex" (lines "defmodule Trade.Shop do" "  alias Trade.Shelf" "  import Trade.Shelf"
                                                          "  def open(x), do: Shelf.fill(weigh(x))" "  def again(x), do: open(x)" "end"))))))

(deftest elixir-binaries-end-a-line
  (check-equal '("module A 1-4" "function pad 2<A" "function pad 3<A")
               (definitions "a.ex" (lines "defmodule A do" "  defp pad(n) when n in 0..9, do: <<?0, ?0 + n>>" "  defp pad(n), do: n" "end"))))
