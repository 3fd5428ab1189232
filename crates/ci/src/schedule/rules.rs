//! Permissions on one schedule beyond a role, and validation of its fields.

use kernel::{AccessLevel::Maintainer, Error, Faults, Result, Standing};

use super::Schedule;

/// So many variables a schedule may have.
pub(super) const MOST_VARIABLES: usize = 100;
/// No branch has a longer name.
pub(super) const LONGEST: usize = 1_000;

/// Whether it is the caller's own.
fn is_own(who: &Standing, schedule: &Schedule) -> bool {
    who.actor.id.is_some() && who.actor.id == schedule.owner_id
}

/// Its pipelines run with the rights of the owner: whoever else wants to say what they do takes it over first.
pub(super) fn ensure_may_change(who: &Standing, schedule: &Schedule) -> Result<()> {
    if who.admin() || is_own(who, schedule) { Ok(()) } else { Err(Error::forbidden()) }
}

/// Whether the caller may say what the pipelines of a schedule do.
pub fn may_change(who: &Standing, schedule: &Schedule) -> bool {
    ensure_may_change(who, schedule).is_ok()
}

/// Whether the caller may see its variables, take it over and take it away.
pub fn is_keeper(who: &Standing, schedule: &Schedule) -> bool {
    who.is(Maintainer) || is_own(who, schedule)
}

pub(super) fn ensure_keeper(who: &Standing, schedule: &Schedule) -> Result<()> {
    if is_keeper(who, schedule) { Ok(()) } else { Err(Error::forbidden()) }
}

/// What is wrong with its texts.
pub(super) fn faults(description: &str, ref_name: &str) -> Faults {
    let mut faults = Faults::default();
    for (field, text) in [("description", description), ("ref", ref_name)] {
        if text.trim().is_empty() {
            faults.add(field, "can't be blank");
        }
        faults.at_most(field, Some(text), LONGEST);
    }
    faults
}

#[cfg(test)]
mod tests {
    use kernel::{
        AccessLevel::{self, Developer, Maintainer},
        Actor, Standing, Ts, Visibility,
        ids::{PipelineScheduleId, ProjectId, UserId},
    };

    use super::{Schedule, ensure_may_change, is_keeper};

    fn schedule(owner_id: Option<UserId>) -> Schedule {
        Schedule {
            id: PipelineScheduleId(1),
            project_id: ProjectId(1),
            owner_id,
            description: "nightly".to_owned(),
            ref_name: "main".to_owned(),
            cron: "0 0 * * *".to_owned(),
            cron_timezone: "UTC".to_owned(),
            next_run_at: None,
            active: true,
            created_at: Ts(0),
            updated_at: Ts(0),
        }
    }

    fn standing(id: Option<UserId>, level: AccessLevel, admin: bool) -> Standing {
        let actor = Actor { id, admin, ..Actor::ANONYMOUS };
        Standing::in_scope(actor, level, Visibility::Private)
    }

    #[test]
    fn the_owner_changes_it_and_maintainers_take_it_over_first() {
        let (ada, bob) = (Some(UserId(1)), Some(UserId(2)));
        for (who, changes, keeps) in [
            (standing(ada, Developer, false), true, true),
            (standing(bob, Developer, false), false, false),
            (standing(bob, Maintainer, false), false, true),
            (standing(bob, Developer, true), true, true),
        ] {
            let schedule = schedule(ada);
            assert_eq!(ensure_may_change(&who, &schedule).is_ok(), changes, "{who:?}");
            assert_eq!(is_keeper(&who, &schedule), keeps, "{who:?}");
        }
        let nobodys = schedule(None);
        assert!(ensure_may_change(&standing(None, Developer, false), &nobodys).is_err());
    }
}
