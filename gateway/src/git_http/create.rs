//! A project that does not exist yet, made by the first push to it.

use kernel::{AccessLevel, Error, Visibility};
use org::{
    access::{IdOrPath, level_in_namespace, locate_project},
    namespace::store::NamespaceStore,
    project::actions::{NewProject, insert},
};
use repo::git::RefName;

use super::{Refusal, door::Visitor, permit::Place};
use crate::{app::App, compose::beginnings::promise_repository};

const LONGEST_PATH: usize = 255;
const DEFAULT_BRANCH: &str = "main";

/// Makes a private project where the visitor may make projects.
pub(super) async fn project(app: &App, visitor: &Visitor, path: &str) -> Result<Place, Refusal> {
    let actor = visitor.actor();
    let (Some(creator), Some((home, name))) = (actor.id, path.rsplit_once('/')) else {
        return Err(Refusal::NoProject);
    };
    if !is_plain(name) {
        return Err(Refusal::NoProject);
    }
    let (home, name) = (home.to_owned(), name.to_owned());
    let made = app.db.write(move |tx| {
        let home = tx.find_namespace_at(&home)?.ok_or(Error::NotFound("Project"))?;
        let level = level_in_namespace(tx, actor, home.id)?;
        if !actor.admin && level < AccessLevel::Maintainer {
            return Err(Error::NotFound("Project"));
        }
        let new = NewProject {
            namespace_id: home.id,
            creator_id: creator,
            name: name.clone(),
            path: name,
            description: None,
            visibility: Visibility::Private,
        };
        let project = insert(tx, &new)?;
        promise_repository(tx, project.id, DEFAULT_BRANCH)?;
        locate_project(tx, actor, &IdOrPath::Id(project.id.0))
    });
    let (project, who) = match made.await {
        Ok(made) => made,
        Err(Error::NotFound(_)) => return Err(Refusal::NoProject),
        Err(other) => return Err(other.into()),
    };
    let (storage, id) = (app.storage.clone(), project.0.id);
    let head = RefName::branch(DEFAULT_BRANCH)?;
    let stored = tokio::task::spawn_blocking(move || storage.create(id, &head)).await;
    stored.map_err(Error::internal)??;
    Ok(Place { project, who })
}

/// Letters, digits and a few marks, as paths of projects are everywhere.
fn is_plain(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let ends_badly = [".git", ".atom", "."].iter().any(|end| name.to_lowercase().ends_with(end));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    first && name.len() <= LONGEST_PATH && name.chars().all(plain) && !ends_badly
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_plain_names_become_projects() {
        for name in ["a", "my-project", "x.y_z", "_1"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "-a", ".a", "a b", "a.git", "a.atom", "a.", "ä", "a/b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
