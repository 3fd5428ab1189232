//! The ports of `deployments`.

use ci::schedule::Timing;
use db::Tx;
use deployments::ports;
use kernel::{
    AccessLevel, Actor, Faults, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::member::store::MemberStore as _;

/// Cron expressions, as `ci` parses them.
#[derive(Clone, Copy, Debug)]
pub struct Calendar;

/// Read with any expression to find out about a zone, and with any zone to find out about an expression.
const ANY_CRON: &str = "0 0 * * *";
const ANY_ZONE: &str = "UTC";

impl ports::Calendar for Calendar {
    fn is_cron(&self, cron: &str) -> bool {
        Timing::read(cron, ANY_ZONE, &mut Faults::default()).is_some()
    }

    fn is_zone(&self, zone: &str) -> bool {
        Timing::read(ANY_CRON, zone, &mut Faults::default()).is_some()
    }

    fn next(&self, cron: &str, zone: &str, after: Ts) -> Option<Ts> {
        Timing::read(cron, zone, &mut Faults::default())?.next(after)
    }
}

/// Members of projects and groups, from `org`.
#[derive(Clone, Copy, Debug)]
pub struct Members;

fn somebody(user: UserId) -> Actor {
    Actor { id: Some(user), ..Actor::ANONYMOUS }
}

impl ports::Members for Members {
    fn groups_above(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<NamespaceId>> {
        org::hierarchy::above_project(tx, project)
    }

    fn is_in_group(
        &self,
        tx: &mut Tx<'_>,
        user: UserId,
        group: NamespaceId,
        with_inherited: bool,
    ) -> Result<bool> {
        if with_inherited {
            let level = org::access::level_in_namespace(tx, somebody(user), group)?;
            return Ok(level > AccessLevel::NoAccess);
        }
        Ok(tx.highest_in(&[group], user)?.is_some())
    }

    fn is_in_project(&self, tx: &mut Tx<'_>, user: UserId, project: ProjectId) -> Result<bool> {
        Ok(org::access::level_in_project(tx, somebody(user), project)? > AccessLevel::NoAccess)
    }

    fn is_group_of(&self, tx: &mut Tx<'_>, group: NamespaceId, project: ProjectId) -> Result<bool> {
        let is_above = org::hierarchy::above_project(tx, project)?.contains(&group);
        Ok(is_above || org::access::is_shared_with(tx, project, group)?)
    }

    fn is_group_below(
        &self,
        tx: &mut Tx<'_>,
        group: NamespaceId,
        above: NamespaceId,
    ) -> Result<bool> {
        Ok(group == above || org::hierarchy::above_group(tx, group)?.contains(&above))
    }
}
