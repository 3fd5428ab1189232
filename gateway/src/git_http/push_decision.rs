//! The decision on each ref of a push: ref by ref, unless the push is atomic.

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString, ByteSlice as _};
use forge::push_message::push_message;
use kernel::{Error, Result};
use repo::{
    git::{Oid, RefName, hook::RefCommand, push_head::PushHead},
    push::{
        Parts, RefChange,
        incoming::{HIDDEN, is_open_to_pushes, pushable},
    },
};

/// Before every sentence of a refusal, as clients know it.
const PREFIX: &str = "GitLab: ";
/// What the status of a ref says that a rule has refused; the sentence stands above.
pub(super) const DECLINED: &str = "pre-receive hook declined";
/// What the others of an atomic push are told.
const NOT_ALONE: &str = "atomic push failure";
/// What a ref is told that was not looked at when everything arrived.
const UNKNOWN: &str = "not part of the push";
/// So many sentences are told; the statuses of the refs tell of all.
const MOST_LINES: usize = 20;

/// The refusal of a push, as sentences for the pusher.
pub(super) struct PushRefusal(pub(super) Vec<String>);

impl PushRefusal {
    pub(super) fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }

    /// As the pusher reads them.
    pub(super) fn lines(self) -> Vec<String> {
        prefixed(self.0)
    }
}

fn prefixed(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().map(|text| format!("{PREFIX}{text}")).collect()
}

impl From<Error> for PushRefusal {
    fn from(error: Error) -> Self {
        Self::one(push_message(&error))
    }
}

impl From<repo::git::GitError> for PushRefusal {
    fn from(error: repo::git::GitError) -> Self {
        Error::from(error).into()
    }
}

/// A ref with where it was and where it is to be.
pub(super) type RefUpdate = (RefName, Option<Oid>, Option<Oid>);

/// The decision on the refs of one push.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    pub(super) is_atomic: bool,
    named: Vec<RefUpdate>,
    allowed: HashMap<BString, RefChange>,
    /// What the status of each refused ref says.
    refused: HashMap<BString, &'static str>,
    /// Each once, in the order in which they were found.
    sentences: Vec<String>,
    /// The same, to be looked up: a mirror may bring a hundred thousand names that are refused.
    known: HashSet<String>,
}

impl Judgement {
    /// Looks at the names. What git itself has refused is in the head of the push, and not among the commands.
    pub(super) fn of(head: &PushHead, commands: &[RefCommand]) -> Self {
        let mut judgement = Self { is_atomic: head.is_atomic, ..Self::default() };
        for command in commands {
            match pushable(command) {
                Ok(name) => judgement.named.push((name, command.old, command.new)),
                Err(text) => {
                    let is_open = is_open_to_pushes(command.name.as_ref());
                    let reason = if is_open { DECLINED } else { HIDDEN };
                    judgement.refuse(command.name.clone(), reason, text);
                }
            }
        }
        let handed_over: HashSet<&BString> = commands.iter().map(|command| &command.name).collect();
        for command in &head.commands {
            let is_kept = !handed_over.contains(&command.name);
            if is_kept && !is_open_to_pushes(command.name.as_ref()) {
                let name = command.name.clone();
                let text = format!("{name} cannot be pushed: only branches, tags and notes can.");
                judgement.refuse(name, HIDDEN, text);
            }
        }
        judgement
    }

    fn refuse(&mut self, name: BString, reason: &'static str, text: String) {
        self.refused.insert(name, reason);
        if self.known.insert(text.clone()) {
            self.sentences.push(text);
        }
    }

    /// # Errors
    /// What was refused, where that is all there is, or where all was to move at once.
    pub(super) fn ensure_something_is_left(&self) -> Result<(), PushRefusal> {
        let nothing = self.named.is_empty() && self.allowed.is_empty();
        let fails = nothing || (self.is_atomic && !self.refused.is_empty());
        if fails && !self.sentences.is_empty() {
            return Err(PushRefusal(shortened(self.sentences.clone())));
        }
        Ok(())
    }

    pub(super) fn take_named(&mut self) -> Vec<RefUpdate> {
        std::mem::take(&mut self.named)
    }

    /// Keeps the changes that can be made at all.
    pub(super) fn keep_possible(
        &mut self,
        changes: Vec<Result<RefChange, (RefName, String)>>,
    ) -> Vec<RefChange> {
        let mut possible = Vec::with_capacity(changes.len());
        for change in changes {
            match change {
                Ok(change) => possible.push(change),
                Err((name, text)) => self.refuse(name.as_bstr().to_owned(), DECLINED, text),
            }
        }
        possible
    }

    /// Takes over what the rules say.
    pub(super) fn note(&mut self, parts: Parts) {
        for change in parts.accepted {
            self.allowed.insert(change.name.as_bstr().to_owned(), change);
        }
        for (changes, error) in parts.refused {
            let text = push_message(&error);
            for change in changes {
                self.refuse(change.name.as_bstr().to_owned(), DECLINED, text.clone());
            }
        }
    }

    /// What may move of what git hands over, in its order and each ref once.
    pub(super) fn allowed(&mut self, commands: &[RefCommand]) -> Vec<RefChange> {
        let taken = commands.iter().filter_map(|command| {
            let change = self.allowed.remove(&command.name)?;
            (change.old == command.old && change.new == command.new).then_some(change)
        });
        // A ref that stays where it is needs no move.
        taken.filter(|change| change.old != change.new).collect()
    }

    /// What the pusher reads above the statuses.
    pub(super) fn lines(&self, parts: &Parts) -> Vec<String> {
        let late = parts.refused.iter().map(|(_, error)| push_message(error));
        let all = self.sentences.iter().cloned().chain(late).collect();
        prefixed(shortened(all))
    }

    /// What became of each ref.
    pub(super) fn statuses(
        &self,
        commands: &[RefCommand],
        parts: &Parts,
    ) -> Vec<(BString, Option<String>)> {
        let mut late: HashMap<BString, String> = HashMap::new();
        for (changes, error) in &parts.refused {
            for (place, change) in changes.iter().enumerate() {
                let reason = if place == 0 { push_message(error) } else { NOT_ALONE.to_owned() };
                late.insert(change.name.as_bstr().to_owned(), reason);
            }
        }
        let moved: HashSet<&BStr> =
            parts.accepted.iter().map(|change| change.name.as_bstr()).collect();
        let reason = |command: &RefCommand| {
            let early = self.refused.get(&command.name).map(|reason| (*reason).to_owned());
            let stays = command.old == command.new || moved.contains(command.name.as_bstr());
            let found = early.or_else(|| late.get(&command.name).cloned());
            found.or_else(|| (!stays).then(|| UNKNOWN.to_owned()))
        };
        commands.iter().map(|command| (command.name.clone(), reason(command))).collect()
    }
}

fn shortened(mut sentences: Vec<String>) -> Vec<String> {
    let more = sentences.len().saturating_sub(MOST_LINES);
    if more > 0 {
        sentences.truncate(MOST_LINES);
        sentences.push(format!("{more} more were refused."));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use kernel::Error;
    use repo::{
        git::{Oid, hook::RefCommand, push_head::PushHead},
        push::{Parts, RefChange},
    };

    use super::{HIDDEN, Judgement, PushRefusal};

    fn command(name: &str) -> RefCommand {
        RefCommand { name: name.into(), old: None, new: Some(Oid::EMPTY_TREE) }
    }

    /// Lets everything move that was named.
    fn allow(judgement: &mut Judgement) {
        let plain = |(name, old, new)| RefChange::plain(name, old, new);
        let accepted = judgement.take_named().into_iter().map(plain).collect();
        judgement.note(Parts { accepted, refused: Vec::new() });
    }

    fn head(names: &[&str], is_atomic: bool) -> PushHead {
        let commands = names.iter().map(|name| command(name)).collect();
        PushHead { commands, is_atomic, ..PushHead::default() }
    }

    #[test]
    fn a_name_outside_of_branches_and_tags_is_refused_alone() {
        let head = head(&["refs/pull/1/head", "refs/heads/a", "refs/merge-requests/1/head"], false);
        // Git has kept the last one to itself.
        let mut judgement = Judgement::of(&head, &head.commands[..2]);
        assert!(judgement.ensure_something_is_left().is_ok());
        allow(&mut judgement);

        let accepted = judgement.allowed(&head.commands[..2]);

        assert_eq!(accepted.len(), 1);
        let parts = Parts { accepted, refused: Vec::new() };
        let told = judgement.statuses(&head.commands[..2], &parts);
        assert_eq!(told[0], ("refs/pull/1/head".into(), Some(HIDDEN.to_owned())));
        assert_eq!(told[1], ("refs/heads/a".into(), None));
    }

    #[test]
    fn an_atomic_push_fails_with_any_of_its_refs() {
        let head = head(&["refs/heads/a", "refs/merge-requests/1/head"], true);
        let judgement = Judgement::of(&head, &head.commands[..1]);

        assert!(
            matches!(judgement.ensure_something_is_left(), Err(PushRefusal(texts)) if texts.len() == 1)
        );
    }

    #[test]
    fn what_fails_late_is_told_beside_its_ref() {
        let head = head(&["refs/heads/a", "refs/heads/b"], false);
        let mut judgement = Judgement::of(&head, &head.commands);
        allow(&mut judgement);
        let mut accepted = judgement.allowed(&head.commands);
        let lost = accepted.remove(0);
        let refused = vec![(vec![lost], Error::bad_request().whole("Somebody was faster."))];
        let parts = Parts { accepted, refused };

        let told = judgement.statuses(&head.commands, &parts);

        assert_eq!(told[0].1.as_deref(), Some("Somebody was faster."));
        assert_eq!(told[1].1, None);
        assert_eq!(judgement.lines(&parts), ["GitLab: Somebody was faster."]);
    }
}
