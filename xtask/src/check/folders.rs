//! A folder of the REST API imports no resource of another folder: helpers of several folders are in `rest/shared`.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use super::outcome::{Outcome, none};
use crate::{
    source::{self, Module},
    workspace::{packages, shown},
};

/// The module whose children are the folders.
const REST: &str = "rest";
/// The folder that every other one may import.
const SHARED: &str = "shared";

pub(super) fn check() -> Result<Outcome> {
    let packages = packages()?;
    let gateway = packages.iter().find(|package| package.name == "gateway");
    let modules = source::modules(gateway.context("the workspace has no gateway")?)?;
    none(&findings(&modules))
}

fn findings(modules: &[Module]) -> Vec<String> {
    let mut found = Vec::new();
    for module in modules {
        let Some(own) = folder(&module.path) else { continue };
        let mut paths = Vec::new();
        for item in &module.items {
            source::paths(&source::tokens(item), &mut paths);
        }
        let targets = paths.iter().filter_map(|path| absolute(&module.path, path));
        let others: BTreeSet<String> = targets
            .filter(|target| is_resource_of_another_folder(own, target, modules))
            .map(|target| target.join("::"))
            .collect();
        found.extend(others.iter().map(|other| format!("{} imports {other}", shown(&module.file))));
    }
    found
}

/// The folder of a module of the REST API.
fn folder(path: &[String]) -> Option<&str> {
    match path {
        [root, folder, ..] if root == REST => Some(folder.as_str()),
        _ => None,
    }
}

fn is_resource_of_another_folder(own: &str, target: &[String], modules: &[Module]) -> bool {
    let is_module = |path: &[String]| modules.iter().any(|module| module.path == path);
    match target {
        [root, folder, _, ..] if root == REST && folder != own && folder != SHARED => {
            is_module(&target[..2])
        }
        _ => false,
    }
}

/// The path from the root of the crate; `None` for names that are not relative to it or to the module.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "super" => {
            let (_, parent) = module.split_last()?;
            match rest.first().map(String::as_str) {
                Some("super") => absolute(parent, rest),
                _ => Some([parent, rest].concat()),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn findings_of(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Vec::new();
        for (path, text) in files {
            let segments = path.split("::").filter(|one| !one.is_empty()).map(str::to_owned);
            let items = syn::parse_file(text).unwrap().items;
            source::split(items, segments.collect(), Path::new(path), &mut modules);
        }
        findings(&modules)
    }

    const FOLDERS: [(&str, &str); 5] = [
        ("", "mod rest; mod entities;"),
        ("rest", "mod org; mod repo; mod shared;"),
        ("rest::org", "mod users;"),
        ("rest::repo", "mod commits;"),
        ("rest::shared", "mod people;"),
    ];

    #[test]
    fn another_folder_is_refused_however_it_is_written() {
        for text in [
            "use crate::rest::org::users::show;",
            "use crate::{entities, rest::org::{users::show}};",
            "use super::super::org::users;",
            "fn list() { crate::rest::org::users::show() }",
        ] {
            let found = findings_of(&[&FOLDERS[..], &[("rest::repo::commits", text)]].concat());
            assert_eq!(found.len(), 1, "{text}: {found:?}");
        }
    }

    #[test]
    fn the_own_folder_and_the_shared_one_are_free() {
        let text = "use super::tags; use crate::{rest::{repo::tags::list, shared::people::find}, entities::org::user};";

        assert!(findings_of(&[&FOLDERS[..], &[("rest::repo::commits", text)]].concat()).is_empty());
    }

    #[test]
    fn other_modules_of_the_gateway_may_use_a_resource() {
        let file = ("web", "use crate::rest::repo::commits::show;");

        assert!(findings_of(&[&FOLDERS[..], &[file]].concat()).is_empty());
    }
}
