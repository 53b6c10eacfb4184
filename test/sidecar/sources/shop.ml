open Printf

type color = Red | Green of int

type point = {
  x : float;
  mutable y : float;
}

module Stack = struct
  type 'a t = 'a list
  let empty = []
  let push x s = x :: s
end

let max_items = 10

let rec length l =
  match l with
  | [] -> 0
  | _ :: t -> 1 + length t

let area p = compute p.x (square p.y)

and helper = fun x -> run x

class counter = object
  val mutable n = 0
  method incr = bump n
end

let () =
  printf "%d" (length [1; 2]);
  Stack.push 1 Stack.empty |> ignore
