//! Not code: fn no() {}
use std::{collections::HashMap, fmt::{self, Display as Show}};
use crate::store::*;
pub use self::inner::make;
mod store;

pub const LIMIT: usize = compute(3);
static mut COUNT: u32 = 0;
type Names = Vec<String>;

#[derive(Debug)]
pub struct Shop<'a, T: Item> {
    pub items: Vec<T>,
    name: &'a str,
}
pub struct Pair(u8, u8);
pub enum Color { Red, Green(u8), Blue { depth: u8 } }

pub trait Item: Show {
    const TAX: f32 = 0.1;
    fn price(&self) -> u32;
    fn label(&self) -> String { format!("{}", self.price()) }
}

impl<'a, T: Item> Shop<'a, T> {
    pub fn new(name: &'a str) -> Self { Self { items: Vec::new(), name } }
    pub async fn find(&mut self, id: usize) -> Option<&T> {
        let first = self.items.iter().map(|i| i.price()).max()?;
        if let Some(item) = self.items.get(id) && item.price() > 1 { touch(item); }
        match Color::Green(1) {
            Color::Red => red(),
            Color::Green(n) if check(n) => many::<u8>(n),
            _ => { other(); }
        }
        let text = r#"not() { "quoted" }"#;
        fetch(text).await.ok()
    }
}

impl<T: Item> fmt::Display for Shop<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{}", self.name) }
}

macro_rules! twice { ($e:expr) => { $e; $e }; }

mod inner {
    pub fn make() -> super::Pair { super::Pair(1, 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn finds() {
        fn local(x: u8) -> u8 { x }
        assert_eq!(local(1), 1);
        twice!(inner::make());
    }
}
