(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-ruby (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-ruby)

(defparameter *shop*
  (lines "require_relative 'stock'"                             ; 1
         "module Trade"                                         ; 2
         "  class Shop < Trade::Base"                           ; 3
         "    include Comparable"                               ; 4
         "    LIMIT = [1,"                                      ; 5
         "             2].freeze"                               ; 6
         "    attr_reader :name, :shelf"                        ; 7
         "    def initialize(name, size: default_size)"         ; 8
         "      @shelf = Shelf.new(size) if name"               ; 9
         "      return unless ready?"                           ; 10
         "      raise 'no' unless valid?(name)"                 ; 11
         "    end"                                              ; 12
         "    def self.open(path) = new(path)"                  ; 13
         "    class << self"                                    ; 14
         "      def close!; stop; end"                          ; 15
         "    end"                                              ; 16
         "    def ==(other)"                                    ; 17
         "      x = if other then 1 else 2 end"                 ; 18
         "      while busy? do wait end"                        ; 19
         "      \"#{label(x)} /not(code)/\" =~ /end if (x)/"    ; 20
         "      text = <<~END"                                  ; 21
         "        end #{weight} def"                            ; 22
         "      END"                                            ; 23
         "      items.map { |i| i.weigh(1) }.each do |w|"       ; 24
         "        puts w.end, :end, end: 1"                     ; 25
         "      end"                                            ; 26
         "    end"                                              ; 27
         "    private"                                          ; 28
         "    def name=(value); @name = value; end"             ; 29
         "  end"                                                ; 30
         "  Error = Class.new(StandardError) do"                ; 31
         "    def code; 1; end"                                 ; 32
         "  end"                                                ; 33
         "end"                                                  ; 34
         "def helper; end"))                                    ; 35

(deftest ruby-definitions
  (check-equal '("module Trade 2-34" "class Shop 3-30<Trade" "constant LIMIT 5-6<Shop" "accessor name 7<Shop" "accessor shelf 7<Shop"
                 "constructor initialize 8-12<Shop" "method open 13<Shop" "method close! 15<Shop" "method == 17-27<Shop"
                 "method name= 29<Shop" "class Error 31-33<Trade" "method code 32<Error" "function helper 35")
               (definitions "shop.rb" *shop*)))

(deftest ruby-calls
  (check-equal '("require_relative:1" "Shop>include:4" "Shop>freeze:6" "Shop>attr_reader:7" "initialize>default_size:8" "initialize>new:9"
                 "initialize>ready?:10" "initialize>raise:11" "initialize>valid?:11" "open>new:13" "close!>stop:15" "==>busy?:19"
                 "==>wait:19" "==>label:20" "==>weight:22" "==>items:24" "==>map:24" "==>weigh:24" "==>each:24" "==>puts:25" "==>end:25"
                 "Trade>new:31")
               (calls "shop.rb" *shop*)))

(deftest ruby-tests-are-marked
  (check-equal '("Shop 1-6" "when open 2-5<Shop" "sells 3-4<when open")
               (tests "shop_spec.rb" (lines "RSpec.describe Shop do" "  context 'when open' do" "    it 'sells' do" "    end" "  end" "end")))
  (check-equal '("ShopTest 1-4" "test_sale 2-3<ShopTest")
               (tests "shop_test.rb" (lines "class ShopTest < Minitest::Test" "  def test_sale" "  end" "end"))))

(deftest ruby-resolution
  (check-equal
   '("lib/shop.rb:4 new > lib/stock.rb:4" "lib/shop.rb:5 fill > lib/stock.rb:5" "lib/shop.rb:5 refill > lib/more.rb:4"
     "lib/stock.rb:5 weigh > lib/stock.rb:2")
   (edges-of (list (cons "lib/stock.rb" (lines "module Weighed" "  def weigh; end; end" "class Shelf; include Weighed"
                                               "  def initialize(n); end" "  def fill; weigh; end" "end"))
                   (cons "lib/more.rb" (lines "class Shelf" "" "" "  def refill; end" "end"))
                   (cons "lib/shop.rb" (lines "class Shop" "  def run" "" "    @shelf = Shelf.new(2)" "    @shelf.refill; @shelf.fill"
                                              "  end" "end"))))))
