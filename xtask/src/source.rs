//! Rust sources as the checks read them: parsed into modules, without tests.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, ItemMod, Lit};

use crate::workspace::Package;

/// A module with the items that are written in it, without tests and inline modules.
pub(crate) struct Module {
    /// From the root of the crate, whose own path is empty.
    pub(crate) path: Vec<String>,
    pub(crate) file: PathBuf,
    pub(crate) items: Vec<Item>,
}

thread_local! {
    /// The crates that were read already, by their folders: several checks of one run read them all.
    static CRATES: RefCell<HashMap<PathBuf, Rc<[Module]>>> = RefCell::default();
}

/// All modules of a crate: those of its library, otherwise those of its program.
pub(crate) fn modules(package: &Package) -> Result<Rc<[Module]>> {
    if let Some(known) = CRATES.with_borrow(|crates| crates.get(&package.folder).cloned()) {
        return Ok(known);
    }
    let modules: Rc<[Module]> = read_crate(package)?.into();
    CRATES.with_borrow_mut(|crates| crates.insert(package.folder.clone(), Rc::clone(&modules)));
    Ok(modules)
}

fn read_crate(package: &Package) -> Result<Vec<Module>> {
    let sources = package.folder.join("src");
    let root = [sources.join("lib.rs"), sources.join("main.rs")];
    let root = root.into_iter().find(|file| file.is_file()).context("a crate without sources")?;
    let mut found = Vec::new();
    read_file(&root, Vec::new(), &sources, &mut found)?;
    Ok(found)
}

fn read_file(file: &Path, path: Vec<String>, below: &Path, found: &mut Vec<Module>) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
    let outside = split(parsed.items, path, file, found);
    for (name, path) in outside {
        let folder = below.join(&name);
        let beside = below.join(format!("{name}.rs"));
        let file = if beside.is_file() { beside } else { folder.join("mod.rs") };
        read_file(&file, path, &folder, found)?;
    }
    Ok(())
}

/// Takes the items of a file apart; gives back the modules that have files of their own.
pub(crate) fn split(
    items: Vec<Item>,
    path: Vec<String>,
    file: &Path,
    found: &mut Vec<Module>,
) -> Vec<(String, Vec<String>)> {
    let (mut own, mut outside) = (Vec::new(), Vec::new());
    for item in items.into_iter().filter(|item| !is_test(attributes(item))) {
        let Item::Mod(module) = item else {
            let resources = resources(&item).into_iter();
            outside.extend(resources.map(|name| {
                let path = [path.as_slice(), std::slice::from_ref(&name)].concat();
                (name, path)
            }));
            own.push(item);
            continue;
        };
        let ItemMod { ident, content, .. } = module;
        let name = ident.to_string().trim_start_matches("r#").to_owned();
        let path = [path.as_slice(), std::slice::from_ref(&name)].concat();
        match content {
            Some((_, items)) => outside.extend(split(items, path, file, found)),
            None => outside.push((name, path)),
        }
    }
    found.push(Module { path, file: file.to_owned(), items: own });
    outside
}

/// The modules that the macro `resources!` declares.
fn resources(item: &Item) -> Vec<String> {
    match item {
        Item::Macro(item) if item.mac.path.is_ident("resources") => {
            let tokens = item.mac.tokens.clone().into_iter();
            let names = tokens.filter_map(|token| match token {
                TokenTree::Ident(name) => Some(word(&name)),
                _ => None,
            });
            names.collect()
        }
        _ => Vec::new(),
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `cfg(test)`, and what crates offer to the tests of others under the feature `testing`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|one| one.path().is_ident("cfg")).any(|one| {
        let condition = one.meta.to_token_stream().to_string();
        condition.contains("(test") || condition.contains("\"testing\"")
    })
}

/// The tokens of an item without its documentation.
pub(crate) fn tokens(item: &Item) -> Vec<TokenTree> {
    without_docs(item.to_token_stream())
}

fn without_docs(stream: TokenStream) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in stream {
        if let (TokenTree::Group(group), Some(TokenTree::Punct(mark))) = (&token, kept.last())
            && mark.as_char() == '#'
            && group.delimiter() == Delimiter::Bracket
            && group.stream().to_string().starts_with("doc")
        {
            kept.pop();
            continue;
        }
        kept.push(token);
    }
    kept
}

/// The text of every string literal, in macros too.
pub(crate) fn literals(tokens: &[TokenTree], found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(&without_docs(group.stream()), found),
            TokenTree::Literal(literal) => {
                if let Lit::Str(text) = Lit::new(literal.clone()) {
                    found.push(text.value());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Every path, in macros too: `a::b` is one of two words, and a name that stands alone is one of a single word.
pub(crate) fn paths(tokens: &[TokenTree], found: &mut Vec<Vec<String>>) {
    paths_after(&[], tokens, found);
}

fn paths_after(prefix: &[String], tokens: &[TokenTree], found: &mut Vec<Vec<String>>) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) => paths(&without_docs(group.stream()), found),
            TokenTree::Ident(first) => {
                let mut path = prefix.to_vec();
                path.push(word(first));
                while is_separator(tokens, at) {
                    match tokens.get(at + 2) {
                        Some(TokenTree::Ident(next)) => path.push(word(next)),
                        Some(TokenTree::Group(tree)) if tree.delimiter() == Delimiter::Brace => {
                            paths_after(&path, &without_docs(tree.stream()), found);
                        }
                        _ => break,
                    }
                    at += 3;
                }
                found.push(path);
            }
            TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn word(ident: &proc_macro2::Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':');
    colon(at) && colon(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Module> {
        let mut found = Vec::new();
        split(syn::parse_file(text).unwrap().items, Vec::new(), Path::new("a.rs"), &mut found);
        found
    }

    #[test]
    fn tests_are_left_out() {
        let text = "struct A; #[cfg(test)] mod tests { struct B; } mod c { struct D; }";
        let sizes: Vec<_> =
            items(text).iter().map(|m| (m.path.join("::"), m.items.len())).collect();

        assert_eq!(sizes, [("c".to_owned(), 1), (String::new(), 1)]);
    }

    #[test]
    fn resources_are_modules_with_files_of_their_own() {
        let text = "mod a_params; resources! { a, b { self, part }, }";
        let items = syn::parse_file(text).unwrap().items;
        let outside = split(items, vec!["rest".to_owned()], Path::new("a.rs"), &mut Vec::new());
        let paths: Vec<_> = outside.iter().map(|(_, path)| path.join("::")).collect();

        assert_eq!(paths, ["rest::a_params", "rest::a", "rest::b"]);
    }

    #[test]
    fn paths_and_texts_in_macros_are_found() {
        let text =
            "/// \"no\" text::of\nfn f() { run!(db::write(\"SELECT 1\"), x); use a::{b, c::d}; }";
        let tokens = tokens(&items(text)[0].items[0]);
        let (mut texts, mut found) = (Vec::new(), Vec::new());
        literals(&tokens, &mut texts);
        paths(&tokens, &mut found);
        let found: Vec<_> = found.iter().map(|path| path.join("::")).collect();

        assert_eq!(texts, ["SELECT 1"]);
        for path in ["db::write", "x", "a::b", "a::c::d"] {
            assert!(found.contains(&path.to_owned()), "{path} of {found:?}");
        }
        assert!(!found.contains(&"text::of".to_owned()));
    }
}
