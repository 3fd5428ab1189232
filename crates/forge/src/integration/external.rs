//! Issues of a tracker elsewhere, as texts of a project name them.

use std::ops::Range;

use admin::{
    integration::{Class, Integration, actions::effective},
    owner::Owner,
};
use db::Tx;
use kernel::{Result, access::FeatureAccess, ids::ProjectId};
use org::{hierarchy::above_project, project::store::ProjectStore as _};

use super::{below, text};

/// Where `:id` stands in an address, the issue goes.
const ID: &str = ":id";
/// What comes before the id of a task.
const TASK_PREFIX: &str = "CU-";
/// Words before the number of an issue.
const EWM_WORDS: [&str; 6] = ["bug", "task", "work item", "workitem", "rtcwi", "defect"];

/// The form of issue references in an external tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `ABC-1`, of which the number counts.
    Number,
    /// `ABC-1` or `abc-1`, all of which counts.
    AnyKey,
    /// `AB-1`, all of which counts.
    Key,
    /// `A-1`, all of which counts.
    TeamKey,
    /// `CU-a1`, of which what follows the dash counts, or `AB-1`, all of which counts.
    TaskId,
    /// `T1`, all of which counts.
    Letter,
    /// `bug 1`.
    Words,
}

impl Form {
    /// Whether a number alone, or an id of that sort, is an issue.
    fn has_short_names(self) -> bool {
        !matches!(self, Self::Key | Self::TeamKey | Self::Letter)
    }
}

/// The tracker of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExternalTracker {
    pub(crate) title: &'static str,
    address: String,
    form: Form,
    /// Whether `#1` is one of its issues: the project has none of its own.
    has_short_names: bool,
}

/// Whether a text may name an issue at all.
pub(crate) fn may_name(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The tracker that is active in a project; the first one where there are several.
pub(crate) fn tracker_of(tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<ExternalTracker>> {
    let groups = above_project(tx, project)?;
    let all = effective(tx, Owner::Project(project), &groups)?;
    let mut active = all.into_iter().filter(|one| one.source.active);
    let Some(found) = active.find_map(|one| tracker(&one.source)) else { return Ok(None) };
    let own = tx.find_project(project)?.map(|project| project.issues_access);
    let has_short_names = own == Some(FeatureAccess::Disabled) && found.form.has_short_names();
    Ok(Some(ExternalTracker { has_short_names, ..found }))
}

fn tracker(row: &Integration) -> Option<ExternalTracker> {
    let kind = row.kind()?;
    let values = row.properties().ok()?;
    let (address, form) = match kind.slug {
        "jira" => (below(text(&values, "url")?, "browse/:id"), Form::Key),
        "youtrack" => (text(&values, "issues_url")?.to_owned(), Form::AnyKey),
        "ewm" => (text(&values, "issues_url")?.to_owned(), Form::Words),
        "phorge" => (text(&values, "issues_url")?.to_owned(), Form::Letter),
        "clickup" => (text(&values, "issues_url")?.to_owned(), Form::TaskId),
        "linear" => (below(text(&values, "workspace_url")?, "issue/:id"), Form::TeamKey),
        _ if kind.class == Class::Issues => (text(&values, "issues_url")?.to_owned(), Form::Number),
        _ => return None,
    };
    let lower = address.to_ascii_lowercase();
    let is_link = lower.starts_with("http://") || lower.starts_with("https://");
    let tracker = ExternalTracker { title: kind.title, address, form, has_short_names: false };
    is_link.then_some(tracker)
}

impl ExternalTracker {
    /// Where in a text issues are named, and where they are.
    pub(crate) fn find(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let mut found = Vec::new();
        let (mut at, mut before) = (0, None);
        while let Some(rest) = text.get(at..)
            && let Some(sign) = rest.chars().next()
        {
            let is_start = !before.is_some_and(|one: char| is_word(one) || "/&#-.@".contains(one));
            // In the middle of a word nothing is read, however long it is.
            let name = if is_start { self.name(rest) } else { None };
            match name {
                Some((length, key)) => {
                    found.push((at..at + length, self.address.replace(ID, key)));
                    at += length;
                    before = Some('0');
                }
                None => {
                    at += sign.len_utf8();
                    before = Some(sign);
                }
            }
        }
        found
    }

    /// The issue that a text begins with: the length of its name, and what goes into the address.
    fn name<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        if let Some(rest) = text.strip_prefix('#') {
            let id = if self.form == Form::TaskId { task_id(rest) } else { number(rest) };
            let id = id.filter(|_| self.has_short_names)?;
            return Some((1 + id.len(), id));
        }
        match self.form {
            Form::Words => named_by_word(text),
            Form::Letter => {
                let number = number(text.strip_prefix('T')?)?;
                text.get(..1 + number.len()).map(|id| (id.len(), id))
            }
            Form::TaskId => match text.strip_prefix(TASK_PREFIX) {
                Some(rest) => task_id(rest).map(|id| (TASK_PREFIX.len() + id.len(), id)),
                None => self.key(text),
            },
            Form::Number | Form::AnyKey | Form::Key | Form::TeamKey => self.key(text),
        }
    }

    /// The issue that a text begins with, named by letters, a dash and a number.
    fn key<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let length = text.find(|sign| !is_key_sign(sign))?;
        let (prefix, rest) = text.split_at_checked(length)?;
        let number = number(rest.strip_prefix('-')?)?;
        let is_capital = |prefix: &str| !prefix.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_key = prefix.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && match self.form {
                Form::AnyKey => true,
                Form::Key | Form::TaskId => is_capital(prefix) && prefix.len() > 1,
                Form::Number | Form::TeamKey | Form::Letter | Form::Words => is_capital(prefix),
            };
        let whole = text.get(..length + 1 + number.len()).filter(|_| is_key)?;
        let key = if self.form == Form::Number { number } else { whole };
        Some((whole.len(), key))
    }
}

/// The issue that a text begins with, named by a word and a number.
fn named_by_word(text: &str) -> Option<(usize, &str)> {
    EWM_WORDS.iter().find_map(|word| {
        let head = text.get(..word.len())?;
        let rest = text.get(word.len()..).filter(|_| head.eq_ignore_ascii_case(word))?;
        let trimmed = rest.trim_start_matches([' ', '\t', '\u{a0}']);
        let number = number(trimmed).filter(|_| trimmed.len() < rest.len())?;
        Some((text.len() - trimmed.len() + number.len(), number))
    })
}

/// The keys of issues that a text names, each once, in their order: for a tracker that is told of them.
pub(super) fn keys(text: &str) -> Vec<String> {
    let form = Form::Key;
    let all = ExternalTracker { title: "", address: ID.to_owned(), form, has_short_names: false };
    let mut keys = Vec::new();
    for (_, key) in all.find(text) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn is_key_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// The number that a text begins with, where no word goes on behind it.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    let ends = !rest.starts_with(is_word);
    (ends && (1..=18).contains(&number.len())).then_some(number)
}

/// The id of small letters and digits that a text begins with, where no word goes on behind it. What has no digit is a word.
fn task_id(text: &str) -> Option<&str> {
    let is_sign = |sign: char| sign.is_ascii_digit() || sign.is_ascii_lowercase();
    let end = text.find(|sign| !is_sign(sign)).unwrap_or(text.len());
    let (id, rest) = text.split_at_checked(end)?;
    let is_whole = !rest.starts_with(is_word) && id.bytes().any(|byte| byte.is_ascii_digit());
    (is_whole && id.len() <= 18).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::{ExternalTracker, Form, keys};

    fn named(form: Form, has_short_names: bool, text: &str) -> Vec<(String, String)> {
        let address = "https://t/:id".to_owned();
        let tracker = ExternalTracker { title: "T", address, form, has_short_names };
        let found = tracker.find(text).into_iter();
        found.map(|(at, address)| (text[at].to_owned(), address)).collect()
    }

    fn pair(name: &str, id: &str) -> (String, String) {
        (name.to_owned(), format!("https://t/{id}"))
    }

    #[test]
    fn each_tracker_has_names_of_its_own() {
        let text = "see ABC-12, abc-3 and #4; Bug 5, not xABC-6, A-7x or ABC-8-9";
        let long = [pair("ABC-12", "12"), pair("ABC-8", "8")];
        assert_eq!(named(Form::Number, false, text), long);
        assert_eq!(named(Form::Number, true, text)[1], pair("#4", "4"));
        assert_eq!(named(Form::AnyKey, false, text)[1], pair("abc-3", "abc-3"));
        assert_eq!(named(Form::Key, false, "A-1 AB-2"), [pair("AB-2", "AB-2")]);
        assert_eq!(named(Form::Words, false, text), [pair("Bug 5", "5")]);
        assert_eq!(named(Form::TeamKey, true, "A-1 b-2")[0], pair("A-1", "A-1"));
    }

    #[test]
    fn tasks_are_named_by_a_letter_or_an_id() {
        let tasks = named(Form::Letter, false, "T12, @T13, ABC-T14, T15x and #T16");
        assert_eq!(tasks, [pair("T12", "T12")]);
        let text = "CU-86a1z, CU-word, AB-3 and #9h";
        let long = [pair("CU-86a1z", "86a1z"), pair("AB-3", "AB-3")];
        assert_eq!(named(Form::TaskId, false, text), long);
        assert_eq!(named(Form::TaskId, true, text)[2], pair("#9h", "9h"));
    }

    #[test]
    fn addresses_and_long_numbers_are_no_issues() {
        for text in ["http://x/ABC-1", "v.ABC-1", "ABC-", "ABC-1234567890123456789", "É-1", "-1"] {
            assert!(named(Form::Number, true, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn keys_of_a_message_come_once_and_in_order() {
        assert_eq!(keys("AB-2: fix AB-1, AB-2"), ["AB-2", "AB-1"]);
    }
}
