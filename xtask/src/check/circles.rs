//! Files of a crate that import one another in a circle: none of them can be understood, moved or tested alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Result;
use syn::{Item, UseTree, Visibility};

use super::outcome::{Outcome, none};
use crate::{
    source::{self, Module},
    workspace::{Package, packages, shown},
};

/// No circle may have more files than this.
const LARGEST: usize = 5;

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for package in packages()? {
        let circles = circles(&Imports::of(&source::modules(&package)?));
        found.extend(circles.iter().filter(|circle| circle.len() > LARGEST).map(|circle| {
            let (name, names) = (&package.name, names(circle, &package).join(" "));
            format!("{name}: {} files import one another, {LARGEST} may: {names}", circle.len())
        }));
    }
    none(&found)
}

fn names(circle: &BTreeSet<PathBuf>, package: &Package) -> Vec<String> {
    let sources = package.folder.join("src");
    circle.iter().map(|file| shown(file.strip_prefix(&sources).unwrap_or(file))).collect()
}

/// A name that a module takes in by `use`.
struct Import {
    path: Vec<String>,
    alias: String,
    /// Whether others may take it from here: such a line alone is no use of what it names.
    is_exported: bool,
}

/// The names in one module.
struct Names {
    file: PathBuf,
    imports: Vec<Import>,
    paths: Vec<Vec<String>>,
}

/// What the modules of a crate name of one another, as far as the text tells: methods and macros are not expanded.
struct Imports {
    modules: BTreeMap<Vec<String>, Names>,
    macros: BTreeMap<String, PathBuf>,
}

impl Imports {
    fn of(modules: &[Module]) -> Self {
        let macros = modules.iter().flat_map(|module| {
            module.items.iter().filter_map(|item| match item {
                Item::Macro(item) => Some((item.ident.as_ref()?.to_string(), module.file.clone())),
                _ => None,
            })
        });
        let names = modules.iter().map(|module| (module.path.clone(), Names::of(module)));
        Self { macros: macros.collect(), modules: names.collect() }
    }

    /// Which files each file needs.
    fn edges(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (module, names) in &self.modules {
            let used: BTreeSet<&str> =
                names.paths.iter().filter_map(|path| path.first()).map(String::as_str).collect();
            let taken = names.imports.iter();
            let taken = taken.filter(|one| !one.is_exported || used.contains(one.alias.as_str()));
            let paths = names.paths.iter().filter(|path| path.len() > 1);
            let named = taken.map(|one| &one.path).chain(paths);
            let targets = named.filter_map(|path| self.file_of(module, path));
            edges.entry(&names.file).or_default().extend(targets.filter(|to| *to != names.file));
        }
        edges
    }

    /// The file that defines what a path in a module names; `None` for other crates and for modules as such.
    fn file_of(&self, module: &[String], path: &[String]) -> Option<&Path> {
        let path = self.absolute(module, path, 0)?;
        self.definition(&path, 0)
    }

    fn definition(&self, path: &[String], depth: usize) -> Option<&Path> {
        let inside = (0..=path.len()).rev().find(|end| self.modules.contains_key(&path[..*end]))?;
        let (module, rest) = path.split_at(inside);
        let name = rest.first()?;
        if let Some(file) = self.macros.get(name).filter(|_| rest.len() == 1) {
            return Some(file);
        }
        let names = &self.modules[module];
        let import = names.imports.iter().find(|import| import.alias == *name);
        match import.filter(|_| depth < DEEPEST) {
            None => Some(&names.file),
            Some(import) => {
                let target = [import.path.as_slice(), &rest[1..]].concat();
                let target = self.absolute(module, &target, depth + 1)?;
                self.definition(&target, depth + 1)
            }
        }
    }

    /// The path from the crate's root; `None` when it leads into another crate.
    fn absolute(&self, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let child = [module, std::slice::from_ref(first)].concat();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(parent, rest, depth),
                    _ => Some([parent, rest].concat()),
                }
            }
            _ if self.modules.contains_key(&child) => Some([module, path].concat()),
            _ => {
                let import = self.modules.get(module)?.imports.iter().find(|i| i.alias == *first);
                let import = import.filter(|import| depth < DEEPEST && import.path != path)?;
                let target = [import.path.as_slice(), rest].concat();
                self.absolute(module, &target, depth + 1)
            }
        }
    }
}

/// Longer chains of re-exports are not followed.
const DEEPEST: usize = 8;

impl Names {
    fn of(module: &Module) -> Self {
        let (mut imports, mut paths) = (Vec::new(), Vec::new());
        for item in &module.items {
            match item {
                Item::Use(item) => {
                    let is_exported = !matches!(item.vis, Visibility::Inherited);
                    take(&item.tree, &mut Vec::new(), is_exported, &mut imports);
                }
                item => source::paths(&source::tokens(item), &mut paths),
            }
        }
        Self { file: module.file.clone(), imports, paths }
    }
}

fn take(tree: &UseTree, path: &mut Vec<String>, is_exported: bool, found: &mut Vec<Import>) {
    let mut import = |path: &[String], last: String, alias: String| {
        let path = if last == "self" { path.to_vec() } else { [path, &[last]].concat() };
        let alias = if alias == "self" { path.last().cloned().unwrap_or_default() } else { alias };
        found.push(Import { path, alias, is_exported });
    };
    match tree {
        UseTree::Path(one) => {
            path.push(one.ident.to_string());
            take(&one.tree, path, is_exported, found);
            path.pop();
        }
        UseTree::Name(one) => import(path, one.ident.to_string(), one.ident.to_string()),
        UseTree::Rename(one) => import(path, one.ident.to_string(), one.rename.to_string()),
        UseTree::Glob(_) => import(path, "*".to_owned(), "*".to_owned()),
        UseTree::Group(group) => {
            for tree in &group.items {
                take(tree, path, is_exported, found);
            }
        }
    }
}

/// The groups of two or more files each of which needs every other, directly or by way of others.
fn circles(imports: &Imports) -> Vec<BTreeSet<PathBuf>> {
    let edges = imports.edges();
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        edges.keys().map(|file| (*file, reached(&edges, file))).collect();
    let mut found: Vec<BTreeSet<PathBuf>> = Vec::new();
    for (file, targets) in &reach {
        let back = targets.iter().filter(|other| reach[*other].contains(file));
        let circle: BTreeSet<PathBuf> = back.map(|other| other.to_path_buf()).collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reached<'a>(edges: &BTreeMap<&'a Path, BTreeSet<&'a Path>>, from: &Path) -> BTreeSet<&'a Path> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&Path> = edges[from].iter().copied().collect();
    while let Some(file) = next.pop() {
        if seen.insert(file) {
            next.extend(edges.get(file).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of files that are given with their module paths.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Vec::new();
        for (path, text) in files {
            let segments = path.split("::").filter(|one| !one.is_empty()).map(str::to_owned);
            let items = syn::parse_file(text).unwrap().items;
            source::split(items, segments.collect(), Path::new(path), &mut modules);
        }
        let show = |circle: &BTreeSet<PathBuf>| {
            circle.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        circles(&Imports::of(&modules)).iter().map(show).collect()
    }

    #[test]
    fn files_that_import_one_another_are_a_circle() {
        let files = [
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::B; pub struct A;"),
            ("b", "pub struct B; fn f() { super::c::run() }"),
            ("c", "use crate::a; pub fn run() { a::A; }"),
        ];
        assert_eq!(circles_of(&files), ["a b c"]);
    }

    #[test]
    fn a_re_export_leads_to_where_the_name_is_defined() {
        let files = [
            ("", "mod x;"),
            ("x", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("x::a", "use super::B; pub struct A;"),
            ("x::b", "pub struct B;"),
        ];
        assert!(circles_of(&files).is_empty());
        let back = ("x::b", "use crate::x::A; pub struct B;");
        assert_eq!(circles_of(&[&files[..3], &[back]].concat()), ["x::a x::b"]);
    }

    #[test]
    fn a_parent_that_works_with_its_child_is_in_its_circle() {
        let files = [
            ("", "mod x;"),
            ("x", "mod a; pub struct X; fn f() { a::run() }"),
            ("x::a", "use super::X; pub fn run() {}"),
        ];
        assert_eq!(circles_of(&files), ["x x::a"]);
    }

    #[test]
    fn tests_and_other_crates_make_no_circle() {
        let files = [
            ("", "mod a; mod b;"),
            ("a", "use crate::b::B; pub struct A;"),
            ("b", "use a::A; pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(circles_of(&files).is_empty());
    }
}
