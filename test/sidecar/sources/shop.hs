{-# LANGUAGE OverloadedStrings #-}
module Shop.Core
  ( total, Item(..) ) where

import qualified Data.Map as M
import Data.List (sortBy)

type Name = String

data Item = Item { itemName :: Name, price :: Int }
          | Empty
          deriving (Show, Eq)

newtype Id a = Id { unId :: a }

class Priced a where
  cost :: a -> Int
  label :: a -> String

instance Priced Item where
  cost (Item _ p) = double p
  cost Empty = 0
  label x = show x

total :: [Item] -> Int
total [] = 0
total (x:xs) = cost x + total xs
  where helper y = y

main :: IO ()
main = do
  let m = M.fromList [(1, "a")]
  putStrLn (render m)
  mapM_ print (sortBy compareItems items)
