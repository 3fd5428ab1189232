//! Functions of a binary by their names without type arguments: how often each was compiled.

use std::collections::BTreeMap;

use super::{size, table};

/// Freeing values is compiled for every type and belongs to nobody's function.
const GLUE: &str = "core::ptr::drop_in_place";

/// A compiled function.
pub(super) struct Function {
    /// Without hash and type arguments.
    pub(super) name: String,
    pub(super) bytes: u64,
}

impl Function {
    pub(super) fn new(symbol: &str, bytes: u64) -> Self {
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        Self { name: erased(&name), bytes }
    }

    /// The crate that the function was written in.
    pub(super) fn home(&self) -> &str {
        let path = self.name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let path = ["dyn ", "mut ", "impl "]
            .iter()
            .fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
        path.split_once("::").map_or("(not Rust)", |(home, _)| home)
    }
}

#[derive(Default)]
struct Copies {
    count: usize,
    bytes: u64,
}

/// Prints the most copied functions, and gives back the number of copies of the first.
pub(super) fn report(functions: &[Function], top: usize) -> usize {
    let mut groups: BTreeMap<&str, Copies> = BTreeMap::new();
    for function in functions {
        let group = groups.entry(&function.name).or_default();
        group.count += 1;
        group.bytes += function.bytes;
    }
    let (glue, mut groups): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(name, _)| name.starts_with(GLUE));
    let glue = glue.iter().fold((0, 0), |sum, (_, one)| (sum.0 + one.count, sum.1 + one.bytes));
    println!(
        "{} functions; besides, {} that free values, {}\n",
        functions.len(),
        glue.0,
        size(glue.1)
    );
    groups.sort_by_key(|(_, one)| std::cmp::Reverse(one.count));
    println!("By number of copies:\n");
    show(&groups, top);
    let most = groups.first().map_or(0, |(_, one)| one.count);
    groups.sort_by_key(|(_, one)| std::cmp::Reverse(one.bytes));
    println!("By size of all copies:\n");
    show(&groups, top);
    most
}

fn show(groups: &[(&str, Copies)], top: usize) {
    let rows = groups.iter().take(top);
    let rows =
        rows.map(|(name, one)| vec![one.count.to_string(), size(one.bytes), (*name).to_owned()]);
    table(&["copies", "size", "function"], &rows.collect::<Vec<_>>());
}

/// A name without the type arguments in it; `<A as B>` stays, which says whose function it is.
fn erased(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut before = ' ';
    for character in name.chars() {
        let is_argument = before == ':' || before.is_alphanumeric() || before == '_';
        match character {
            '<' if depth > 0 => depth += 1,
            '<' if is_argument => {
                depth = 1;
                kept.push_str("<_");
            }
            // `->` closes nothing.
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            kept.push(character);
        }
        before = character;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_one_name() {
        assert_eq!(erased("a::run<alloc::vec::Vec<u8>>::{{closure}}"), "a::run<_>::{{closure}}");
        assert_eq!(erased("a::run::<fn() -> b::C>"), "a::run::<_>");
        assert_eq!(erased("<a::B<c::D> as e::F<g::H>>::i"), "<a::B<_> as e::F<_>>::i");
        assert_eq!(erased("sqlite3_step"), "sqlite3_step");
    }

    #[test]
    fn a_function_tells_its_crate() {
        let home = |name: &str| Function { name: name.to_owned(), bytes: 1 }.home().to_owned();

        assert_eq!(home("core::ptr::read"), "core");
        assert_eq!(home("<dyn a::B as c::D>::e"), "a");
        assert_eq!(home("<&mut a::B as c::D>::e"), "a");
        assert_eq!(home("sqlite3_step"), "(not Rust)");
    }
}
