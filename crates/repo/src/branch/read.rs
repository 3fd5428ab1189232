//! Branches as they are listed and shown: one pass over the refs, one walk for all that are merged.

use std::collections::HashSet;

use kernel::{
    Error, Result,
    access::ProjectFacts,
    page::{Page, PageRequest},
};

use crate::{
    commit::{
        Answers,
        read::{deadline, default_head},
    },
    git::{CommitInfo, Oid, Reader, RefInfo, RefName},
    name_filter::NameFilter,
};

/// A branch as it is shown.
#[derive(Clone, Debug)]
pub struct Branch {
    pub name: String,
    pub commit: CommitInfo,
    /// Whether the default branch has all its commits; never of a branch whose head is the default branch's.
    pub merged: bool,
    pub is_default: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BranchOrder {
    #[default]
    Name,
    OldestFirst,
    NewestFirst,
}

/// Which part of the list is wanted.
#[derive(Clone, Debug)]
pub enum BranchPage {
    Numbered(PageRequest),
    /// So many after the branch of this name, or from the beginning.
    After {
        name: Option<String>,
        count: usize,
    },
}

/// The branch that a path names.
pub fn branch_named(name: &str) -> Result<RefName> {
    RefName::branch(name).map_err(|_malformed| malformed())
}

fn malformed() -> Error {
    Error::bad_request().whole("The branch refname is invalid")
}

/// A branch that must be there.
pub fn existing(reader: &Reader, name: &RefName) -> Result<RefInfo> {
    match reader.find_reference(name)? {
        Some(found) => Ok(found),
        None if name.short_bytes().starts_with(b"-") => Err(malformed()),
        None => Err(Error::not_found("Branch")),
    }
}

/// A page of the branches whose names the filter lets through.
pub fn list(
    reader: &Reader,
    answers: &Answers,
    project: &ProjectFacts,
    filter: &NameFilter,
    order: BranchOrder,
    page: &BranchPage,
) -> Result<Page<Branch>> {
    let mut refs = reader.branches()?;
    refs.retain(|branch| filter.matches(&branch.name.short()));
    if order != BranchOrder::Name {
        sort_by_age(reader, answers, &mut refs, order)?;
    }
    let page = match page {
        BranchPage::Numbered(page) => page.slice(refs),
        BranchPage::After { name: None, count } => first_of(refs, *count),
        BranchPage::After { name: Some(name), count } => {
            let rest = match order {
                BranchOrder::Name => {
                    refs.into_iter().skip_while(|one| *one.name.short() <= **name).collect()
                }
                _ => after(refs, name)?,
            };
            first_of(rest, *count)
        }
    };
    page.try_map_all(|refs| shown(reader, answers, project, refs))
}

fn first_of(refs: Vec<RefInfo>, count: usize) -> Page<RefInfo> {
    let per_page = i64::try_from(count).unwrap_or(i64::MAX);
    PageRequest { page: 1, per_page }.uncounted(refs)
}

fn after(refs: Vec<RefInfo>, name: &str) -> Result<Vec<RefInfo>> {
    let place = refs.iter().position(|one| one.name.short() == name);
    let place = place.ok_or_else(|| Error::unprocessable().whole("Invalid page token"))?;
    Ok(refs.into_iter().skip(place + 1).collect())
}

/// By the committer date of the head; equal ones by name.
fn sort_by_age(
    reader: &Reader,
    answers: &Answers,
    refs: &mut [RefInfo],
    order: BranchOrder,
) -> Result<()> {
    let mut dated = Vec::with_capacity(refs.len());
    for branch in refs.iter() {
        let at = match branch.commit {
            Some(commit) => answers.ref_time(reader, commit)?,
            None => i64::MIN,
        };
        dated.push((at, branch.clone()));
    }
    dated.sort_by(|(one, _), (other, _)| match order {
        BranchOrder::NewestFirst => other.cmp(one),
        BranchOrder::OldestFirst | BranchOrder::Name => one.cmp(other),
    });
    for (place, (_, branch)) in refs.iter_mut().zip(dated) {
        *place = branch;
    }
    Ok(())
}

/// One branch.
pub fn show(
    reader: &Reader,
    answers: &Answers,
    project: &ProjectFacts,
    name: &RefName,
) -> Result<Branch> {
    let found = vec![existing(reader, name)?];
    shown(reader, answers, project, found)?.pop().ok_or_else(|| Error::not_found("Branch"))
}

fn shown(
    reader: &Reader,
    answers: &Answers,
    project: &ProjectFacts,
    refs: Vec<RefInfo>,
) -> Result<Vec<Branch>> {
    let heads: Vec<Oid> = refs.iter().filter_map(|branch| branch.commit).collect();
    let merged = merged_among(reader, answers, project, &heads)?;
    let mut branches = Vec::with_capacity(refs.len());
    for (branch, commit) in refs.into_iter().filter_map(|one| Some((one.name, one.commit?))) {
        let name = branch.short().into_owned();
        branches.push(Branch {
            commit: reader.commit(commit)?,
            merged: merged.contains(&commit),
            is_default: project.default_branch.as_deref() == Some(name.as_str()),
            name,
        });
    }
    Ok(branches)
}

/// Which of these heads the default branch has grown past.
pub fn merged_among(
    reader: &Reader,
    answers: &Answers,
    project: &ProjectFacts,
    heads: &[Oid],
) -> Result<HashSet<Oid>> {
    let Some(default) = default_head(reader, project)? else { return Ok(HashSet::new()) };
    Ok(answers.merged(reader, default, heads, deadline())?)
}
