//! Filters shared by lists of issues and merge requests.

use db::Tx;
use graphql::{Arguments, Failure};
use kernel::{Ts, ids::UserId};
use org::user::names::person_or_nobody;
use review::item::list::{Choice, MilestoneChoice};

use crate::values::texts;

/// A moment; nothing where it was not given.
///
/// # Errors
/// For a text that is no moment.
pub fn moment(arguments: &Arguments, name: &str) -> Result<Option<Ts>, Failure> {
    let Some(text) = arguments.maybe_text(name) else { return Ok(None) };
    match Ts::parse(&text) {
        Some(at) => Ok(Some(at)),
        None => Err(Failure::message(format!("`{name}` must be a valid Time value"))),
    }
}

/// The last moment of a list: to the end of what is shown as it.
///
/// # Errors
/// For a text that is no moment.
pub fn last_moment(arguments: &Arguments, name: &str) -> Result<Option<Ts>, Failure> {
    Ok(moment(arguments, name)?.map(Ts::end_of_shown_second))
}

/// `NONE` and `ANY`, whatever their letter case.
pub fn word<T>(text: &str) -> Option<Choice<T>> {
    if text.eq_ignore_ascii_case("none") {
        Some(Choice::Nothing)
    } else if text.eq_ignore_ascii_case("any") {
        Some(Choice::Anything)
    } else {
        None
    }
}

/// One text, or none or any of them.
pub fn text_choice(arguments: &Arguments, name: &str) -> Option<Choice<String>> {
    let text = arguments.maybe_text(name).filter(|text| !text.is_empty())?;
    Some(word(&text).unwrap_or(Choice::These(text)))
}

/// A number, or none or any; what is no number is nobody's.
pub fn number_choice(arguments: &Arguments, name: &str) -> Option<Choice<i64>> {
    let text = arguments.maybe_text(name).filter(|text| !text.is_empty())?;
    let number = || text.rsplit('/').next().and_then(|id| id.parse().ok()).unwrap_or(0);
    Some(word(&text).unwrap_or_else(|| Choice::These(number())))
}

/// Names of labels, or none or any.
pub fn labels(arguments: &Arguments, name: &str) -> Option<Choice<Vec<String>>> {
    let names: Vec<String> = arguments.maybe_texts(name)?;
    match names.as_slice() {
        [] => None,
        [one] => Some(word(one).unwrap_or(Choice::These(names))),
        _ => Some(Choice::These(names)),
    }
}

/// Titles of milestones, or none or any.
pub fn milestones(titles: Vec<String>) -> Option<Choice<MilestoneChoice>> {
    match titles.as_slice() {
        [] => None,
        [one] => Some(word(one).unwrap_or(Choice::These(MilestoneChoice::Titled(one.clone())))),
        _ => Some(Choice::These(MilestoneChoice::TitledOneOf(titles))),
    }
}

/// Numbers within a project; texts that are none are nobody's.
pub fn iids(arguments: &Arguments) -> Option<Vec<i64>> {
    let mut texts = arguments.maybe_texts("iids").unwrap_or_default();
    texts.extend(arguments.maybe_text("iid"));
    let given = arguments.maybe_texts("iids").is_some() || arguments.maybe_text("iid").is_some();
    given.then(|| texts.iter().map(|text| text.parse().unwrap_or(0)).collect())
}

/// # Errors
/// For lists that are too long.
pub fn ensure_short(arguments: &Arguments, names: &[&str]) -> Result<(), Failure> {
    names.iter().try_for_each(|name| texts(arguments, name).map(drop))
}

/// Somebody by name, where one is given; who is unknown is nobody.
pub fn named(tx: &mut Tx<'_>, name: Option<&String>) -> kernel::Result<Option<UserId>> {
    name.map(|name| person_or_nobody(tx, name)).transpose()
}
