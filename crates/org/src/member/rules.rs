//! The conditions for giving somebody a role.

use db::Tx;
use kernel::{AccessLevel, Error, Result, Ts};

use super::{Source, member_source::Lineage, store::MemberStore};
use crate::{faults::Faults, settings::domains, user::User};

/// A role and its end, as they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub level: i64,
    pub expires_at: Option<Ts>,
}

/// Whether a person is new to the place or has a role there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Newness {
    New,
    Known,
}

/// The level that was asked for, and what speaks against giving it.
pub(crate) fn check(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    source: Source,
    user: &User,
    terms: Terms,
    newness: Newness,
) -> Result<(AccessLevel, Faults)> {
    let mut faults = Faults::default();
    let level = level(lineage, source, terms.level, &mut faults);
    if faults.is_empty() {
        check_inherited(tx, lineage, user, level, &mut faults)?;
    }
    check_end(tx.now, terms.expires_at, &mut faults);
    if newness == Newness::New {
        if user.bot {
            faults.add("user_id", "project bots cannot be added to other groups / projects");
        }
        if !domains::is_welcome(tx, &user.email)? {
            faults.add("user", unwelcome(source));
        }
    }
    Ok((level, faults))
}

/// The role with this number, among those that the place has.
pub(crate) fn level(
    lineage: &Lineage,
    source: Source,
    number: i64,
    faults: &mut Faults,
) -> AccessLevel {
    let found = AccessLevel::find(number).filter(|level| match level {
        AccessLevel::NoAccess | AccessLevel::Admin => false,
        AccessLevel::Minimal => lineage.is_top_level_group(),
        _ => true,
    });
    if found.is_none() {
        faults.add("access_level", "is not included in the list");
        if number == 5 && matches!(source, Source::Group(_)) {
            faults.add("access_level", "supported on top level groups only");
        }
    }
    found.unwrap_or_default()
}

/// A role of one's own is never less than the one that comes from above.
fn check_inherited(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    user: &User,
    level: AccessLevel,
    faults: &mut Faults,
) -> Result<()> {
    let above = lineage.above();
    let ids: Vec<_> = above.iter().map(|group| group.id).collect();
    if let Some((inherited, from)) = tx.highest_in(&ids, user.id)?
        && level < inherited
    {
        let name = above.iter().find(|group| group.id == from).map_or("", |group| &group.name);
        let role = role(inherited);
        let text = format!(
            "should be greater than or equal to {role} inherited membership from group {name}"
        );
        faults.add("access_level", text);
    }
    Ok(())
}

/// An end is a day to come, or today.
pub(crate) fn check_end(now: Ts, end: Option<Ts>, faults: &mut Faults) {
    if end.is_some_and(|end| end.date() < now.date()) {
        faults.add("expires_at", "cannot be a date in the past");
    }
}

/// What is said of people whose address lies in a domain that is kept out.
pub(crate) fn unwelcome(source: Source) -> String {
    format!("is not allowed for this {}. Check with your administrator.", source.word())
}

/// What is wrong, in one sentence each: `Access level is not included in the list`.
pub(crate) fn sentences(faults: Faults) -> Option<String> {
    let mut all = Vec::new();
    for (field, texts) in faults.into_fields() {
        let subject = match field.as_str() {
            "access_level" => "Access level",
            "expires_at" => "Expires at",
            "user_id" => "User",
            _ => "The member's email address",
        };
        all.extend(texts.into_iter().map(|text| format!("{subject} {text}")));
    }
    let last = all.pop()?;
    Some(if all.is_empty() { last } else { format!("{} and {last}", all.join(", ")) })
}

/// A group always has somebody who owns it, itself or from above.
pub(crate) fn ensure_another_owner(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    source: Source,
    user: &User,
) -> Result<()> {
    if matches!(source, Source::Project(_)) {
        return Ok(());
    }
    match tx.count_other_owners(&lineage.ids(), user.id)? {
        0 => Err(Error::forbidden()),
        _ => Ok(()),
    }
}

/// The name of a role, as sentences and payloads tell it.
pub fn role(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::NoAccess => "No access",
        AccessLevel::Minimal => "Minimal Access",
        AccessLevel::Guest => "Guest",
        AccessLevel::Reporter => "Reporter",
        AccessLevel::Developer => "Developer",
        AccessLevel::Maintainer => "Maintainer",
        AccessLevel::Owner | AccessLevel::Admin => "Owner",
    }
}
