//! Random actions against a plain map: the same files, or the same refusal.

use bstr::ByteSlice as _;
use std::collections::BTreeMap;

use forgeway_repo::git::change::ActionKind::{Chmod, Create, Delete, Move, Update};
use forgeway_repo::git::change::{ActionKind, FileAction, Refusal};
use proptest::bool::weighted;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::{collection, option, proptest, sample};

use crate::scratch::{Scratch, on};

/// Few names, so that they meet: some are folders of others.
const PATHS: &[&str] = &["a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "a/q", "ü/ß", "d.x", "d-x"];

#[derive(Clone, Debug, PartialEq)]
struct File {
    executable: bool,
    content: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Model(BTreeMap<String, File>);

impl Model {
    fn ensure_free(&self, path: &str) -> Result<(), Refusal> {
        if self.0.contains_key(path)
            || self.0.keys().any(|file| path.starts_with(&format!("{file}/")))
        {
            return Err(Refusal::FileExists);
        }
        if self.0.keys().any(|file| file.starts_with(&format!("{path}/"))) {
            return Err(Refusal::FolderExists);
        }
        Ok(())
    }

    fn file(&mut self, path: &str) -> Result<&mut File, Refusal> {
        self.0.get_mut(path).ok_or(Refusal::FileMissing)
    }

    fn apply(&mut self, action: &FileAction) -> Result<(), Refusal> {
        let path = action.path.to_str().unwrap();
        let content =
            action.content.as_ref().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        let executable = action.executable == Some(true);
        match action.kind {
            Create => {
                self.ensure_free(path)?;
                self.0.insert(
                    path.to_owned(),
                    File { executable, content: content.unwrap_or_default() },
                );
            }
            Update => self.file(path)?.content = content.unwrap_or_default(),
            Chmod => self.file(path)?.executable = executable,
            Delete => {
                self.file(path)?;
                self.0.remove(path);
            }
            Move => self.relocate(
                action.previous_path.as_ref().unwrap().to_str().unwrap(),
                path,
                content,
            )?,
        }
        Ok(())
    }

    fn relocate(&mut self, from: &str, to: &str, content: Option<String>) -> Result<(), Refusal> {
        let mut file = self.file(from)?.clone();
        if self.0.contains_key(to) {
            return Err(Refusal::FileExists);
        }
        if self.0.keys().any(|other| other.starts_with(&format!("{to}/"))) {
            return Err(Refusal::FolderExists);
        }
        self.0.remove(from);
        self.ensure_free(to)?;
        file.content = content.unwrap_or(file.content);
        self.0.insert(to.to_owned(), file);
        Ok(())
    }
}

fn action() -> impl Strategy<Value = FileAction> {
    let kind = prop_oneof![4 => Just(Create), 2 => Just(Update), 2 => Just(Delete), 2 => Just(Move), 1 => Just(Chmod)];
    let path = || sample::select(PATHS);
    (kind, path(), path(), option::of("[a-c]{0,2}"), option::of(any::<bool>())).prop_map(
        |(kind, path, previous, content, executable): (ActionKind, _, _, _, _)| FileAction {
            previous_path: (kind == Move).then(|| previous.into()),
            content: content.map(Into::into),
            executable,
            ..FileAction::new(kind, path)
        },
    )
}

/// Most commits should be made, not refused: leaves out what the model would not do.
fn acceptable(model: &Model, actions: Vec<FileAction>) -> Vec<FileAction> {
    let mut model = model.clone();
    let accepts = |action: &FileAction| {
        let mut next = model.clone();
        let accepted = next.apply(action).is_ok();
        if accepted {
            model = next;
        }
        accepted
    };
    actions.into_iter().filter(accepts).collect()
}

async fn hold_against_git(commits: Vec<(bool, Vec<FileAction>)>) {
    let scratch = Scratch::new().await;
    let mut model = Model::default();
    for (as_drawn, actions) in commits {
        let actions = if as_drawn { actions } else { acceptable(&model, actions) };
        let mut next = model.clone();
        let mut expected = actions.iter().try_for_each(|action| next.apply(action));
        if expected.is_ok() && next == model {
            expected = Err(Refusal::NothingChanged);
        }
        let said = format!("{actions:?}");

        let made = scratch.try_commit(on("main", actions)).await;

        match expected {
            Ok(()) => model = made.map(|_| next).unwrap(),
            Err(refusal) => {
                assert_eq!(made.unwrap_err().to_string(), refusal.to_string(), "{said}")
            }
        }
    }
    if scratch.ask(&["for-each-ref"]).is_empty() {
        return;
    }
    let listing = scratch.ask(&[
        "-c",
        "core.quotePath=false",
        "ls-tree",
        "-r",
        "--format=%(objectmode) %(objectname) %(path)",
        "main",
    ]);
    let expected: Vec<String> =
        model.0.iter().map(|(path, file)| format!("{} {path}", stored_as(file))).collect();
    let mut listed: Vec<&str> = listing.lines().collect();
    listed.sort_by_key(|line| line.split_at(48).1);
    assert_eq!(listed, expected);
    scratch.fsck();
}

fn stored_as(file: &File) -> String {
    let id = gix::objs::compute_hash(
        gix::hash::Kind::Sha1,
        gix::objs::Kind::Blob,
        file.content.as_bytes(),
    )
    .unwrap();
    format!("{} {id}", if file.executable { "100755" } else { "100644" })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn any_actions_leave_what_a_map_would_hold(
        commits in collection::vec((weighted(0.2), collection::vec(action(), 1..8)), 1..12)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(hold_against_git(commits));
    }
}
