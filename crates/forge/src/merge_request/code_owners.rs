//! The code owners and commit authors of a merge request, read from git after every push.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use kernel::{
    AccessLevel, Error, Result,
    ids::{MergeRequestId, NamespaceId, ProjectId, UserId},
};
use org::{
    namespace::{Kind, store::NamespaceStore},
    user::{addresses, names},
};
use repo::{
    code_owners::{self, Owner, OwnerMatch, OwnerMatches},
    commit::read::deadline,
    git::{LogQuery, Oid, Reader, RefInfo, RefName, Tips},
};
use review::{
    approval::{self, HeadSnapshot, OwnerRule},
    merge_request::{Heads, MergeRequest, MergeRequestState, MergeRequestStore},
    ports::People as _,
};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::heads::resolve_heads_at;
use crate::{
    Forge,
    ports::{approvals::Approvers, review::OrgHierarchy},
};

/// Of so many commits the people are looked up.
const MOST_COMMITS: usize = 1000;

/// Looks who has to do with what a merge request holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct UpdateCodeOwners {
    pub merge_request: MergeRequestId,
    pub pushed: Option<ApprovalReset>,
}

/// A push that takes back the approvals of those whose files it changed.
#[derive(Debug, Serialize, Deserialize)]
pub struct ApprovalReset {
    pub by: UserId,
    /// Where the source branch was, as far as the merge request knew it; everything counts as changed where it did not.
    pub from: Option<String>,
}

impl Job for UpdateCodeOwners {
    const KIND: &'static str = "merge_request.look_at_commits";

    fn unique_key(&self) -> Option<String> {
        let id = self.merge_request;
        Some(match &self.pushed {
            None => id.to_string(),
            Some(push) => format!("{id}:{}:{}", push.by, push.from.as_deref().unwrap_or_default()),
        })
    }
}

/// Code owner facts read from git.
#[derive(Clone, Debug, Default)]
struct OwnerFacts {
    emails: BTreeSet<String>,
    owned: OwnerMatches,
    /// Patterns that fit what the push changed, by their sections.
    pushed: BTreeSet<(String, String)>,
}

impl UpdateCodeOwners {
    /// Does nothing for what is gone by now.
    pub async fn run(self, forge: &Forge) -> Result<()> {
        let id = self.merge_request;
        let row = forge.db.read(move |tx| Ok(tx.merge_requests_in_order(&[id.0])?.pop())).await?;
        let Some(row) = row.filter(|row| forge.storage.exists(row.project_id)) else {
            return Ok(());
        };
        let row = as_pushed(forge, row).await?;
        let (looked, from) = (row.clone(), self.pushed.as_ref().and_then(|push| push.from.clone()));
        let seen =
            forge.git_read(row.project_id, move |reader| seen(reader, &looked, from.as_deref()));
        let (seen, pusher) = (seen.await?, self.pushed.map(|push| push.by));
        let host = forge.urls.private_mail_host();
        let kept = forge.db.write(move |tx| {
            let row = tx.merge_request(row.id)?;
            let look = read_facts(tx, row.project_id, &seen, &host)?;
            approval::note_head(tx, &Approvers, &OrgHierarchy, &row, &look, pusher)
        });
        match kept.await {
            Err(failure) if !failure.is_gone() => Err(failure),
            _ => Ok(()),
        }
    }
}

/// The row with the head that its source has. That of a closed merge request is written down when it is opened again.
async fn as_pushed(forge: &Forge, row: MergeRequest) -> Result<MergeRequest> {
    let ends = row.ends().filter(|_| row.state == MergeRequestState::Closed);
    let Some(ends) = ends else { return Ok(row) };
    let Heads { head, start, base, .. } = resolve_heads_at(forge, &ends).await?;
    Ok(match base {
        // One of the branches is not there.
        None => row,
        base_sha => MergeRequest { head_sha: head, start_sha: start, base_sha, ..row },
    })
}

fn seen(reader: &Reader, row: &MergeRequest, from: Option<&str>) -> Result<OwnerFacts> {
    let id = |text: Option<&str>| text.and_then(|text| text.parse::<Oid>().ok());
    let Some(head) = id(row.head_sha.as_deref()) else { return Ok(OwnerFacts::default()) };
    if !reader.has(head) {
        return Err(Error::unavailable("the commits of a fork are still on their way"));
    }
    // Right after a push nobody has looked yet where the source left the target.
    let start = match id(row.start_sha.as_deref()) {
        Some(start) => start,
        None => match reader.find_reference(&RefName::branch(&row.target_branch)?)? {
            Some(RefInfo { commit: Some(start), .. }) => start,
            _ => return Ok(OwnerFacts::default()),
        },
    };
    let base = match id(row.base_sha.as_deref()) {
        Some(base) => base,
        None => reader.merge_base(&[start, head])?.unwrap_or(start),
    };
    let query =
        LogQuery { exclude: vec![base], take: MOST_COMMITS, ..LogQuery::new(Tips::One(head)) };
    let commits = reader.log(&query, deadline())?;
    let people = commits.iter().flat_map(|commit| [&commit.author.email, &commit.committer.email]);
    let emails = people.map(|email| email.to_lowercase()).collect();
    let owners = code_owners::of_branch(reader, start)?;
    if owners.sections.is_empty() {
        return Ok(OwnerFacts { emails, ..OwnerFacts::default() });
    }
    let paths = code_owners::changed_by(reader, base, head)?;
    let pushed = match id(from).filter(|from| reader.has(*from)) {
        Some(from) => code_owners::changed_by(reader, from, head)?,
        None => paths.clone(),
    };
    let pushed = owners.of_paths(&pushed);
    let key = |owned: OwnerMatch| (owned.section, owned.pattern);
    Ok(OwnerFacts {
        emails,
        owned: owners.of_paths(&paths),
        pushed: pushed.into_iter().map(key).collect(),
    })
}

/// The people and groups behind addresses and names. Owners are members, and groups that have to do with the project.
fn read_facts(
    tx: &mut Tx<'_>,
    project: ProjectId,
    seen: &OwnerFacts,
    host: &str,
) -> Result<HeadSnapshot> {
    let emails: Vec<String> = seen.emails.iter().cloned().collect();
    let committers: BTreeSet<UserId> =
        addresses::holders(tx, &emails, host)?.into_values().collect();
    let owners: Vec<&Owner> = seen.owned.iter().flat_map(|owned| &owned.owners).collect();
    let known = OwnerLookup::of(tx, project, &owners, host)?;
    let rule = |owned: &OwnerMatch| {
        let (users, groups) = known.named_by(&owned.owners);
        OwnerRule {
            pattern: owned.pattern.clone(),
            section: owned.section.clone(),
            approvals_required: if owned.optional { 0 } else { owned.approvals },
            users,
            groups,
            pushed: seen.pushed.contains(&(owned.section.clone(), owned.pattern.clone())),
        }
    };
    let owners = seen.owned.iter().map(rule).collect();
    Ok(HeadSnapshot { committers: existing(tx, committers)?, owners })
}

/// Numbers in private addresses may be anything.
fn existing(tx: &mut Tx<'_>, people: BTreeSet<UserId>) -> Result<Vec<UserId>> {
    let people: Vec<UserId> = people.into_iter().collect();
    let known = names::names_of(tx, &people)?;
    Ok(people.into_iter().filter(|user| known.contains_key(user)).collect())
}

/// Users and groups for the names and addresses of a code owners file.
#[derive(Debug, Default)]
struct OwnerLookup {
    people: HashMap<String, UserId>,
    emails: HashMap<String, UserId>,
    groups: HashMap<String, NamespaceId>,
}

impl OwnerLookup {
    fn of(tx: &mut Tx<'_>, project: ProjectId, owners: &[&Owner], host: &str) -> Result<Self> {
        let (mut named, mut emails) = (BTreeSet::new(), BTreeSet::new());
        for owner in owners {
            match owner {
                Owner::Named(name) => named.insert(name.clone()),
                Owner::Email(email) => emails.insert(email.clone()),
            };
        }
        let (named, emails): (Vec<_>, Vec<_>) =
            (named.into_iter().collect(), emails.into_iter().collect());
        let mut people = names::ids_of(tx, &named)?;
        let mut emails = addresses::holders(tx, &emails, host)?;
        let all: Vec<UserId> = people.values().chain(emails.values()).copied().collect();
        let standings = OrgHierarchy.standings(tx, project, &all)?;
        let members = standings.iter().filter(|who| who.level > AccessLevel::NoAccess);
        let members: BTreeSet<UserId> = members.filter_map(|who| who.actor.id).collect();
        people.retain(|_, user| members.contains(user));
        emails.retain(|_, user| members.contains(user));
        let groups = groups(tx, project, &named)?;
        Ok(Self { people, emails, groups })
    }

    fn named_by(&self, owners: &[Owner]) -> (Vec<UserId>, Vec<NamespaceId>) {
        let person = |owner: &Owner| match owner {
            Owner::Named(name) => self.people.get(name).copied(),
            Owner::Email(email) => self.emails.get(email).copied(),
        };
        let group = |owner: &Owner| match owner {
            Owner::Named(name) => self.groups.get(name).copied(),
            Owner::Email(_) => None,
        };
        let users: BTreeSet<UserId> = owners.iter().filter_map(person).collect();
        let groups: BTreeSet<NamespaceId> = owners.iter().filter_map(group).collect();
        (users.into_iter().collect(), groups.into_iter().collect())
    }
}

/// Which of these are groups above the project, or groups that it is shared with.
fn groups(
    tx: &mut Tx<'_>,
    project: ProjectId,
    paths: &[String],
) -> Result<HashMap<String, NamespaceId>> {
    let above = org::hierarchy::above_project(tx, project)?;
    let mut found = HashMap::new();
    for path in paths {
        let group = tx.find_namespace_at(path)?.filter(|group| group.kind == Kind::Group);
        let Some(group) = group else { continue };
        if above.contains(&group.id) || org::access::is_shared_with(tx, project, group.id)? {
            found.insert(path.clone(), group.id);
        }
    }
    Ok(found)
}
