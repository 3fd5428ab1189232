//! A branch for an issue, and a merge request that is to resolve it.

use kernel::{Ability, Error, Grant, Result, access::Project};
use org::user::User;
use repo::{git::RefName, policy::PushCode};
use review::{
    issue::{Issue, IssueStore as _},
    item::{Item, ItemStore as _, labels::LabelChange},
    merge_request::actions::NewMergeRequest,
    policy::{CreateMergeRequests, ProposeMergeRequests},
};

use crate::{
    Forge, branch,
    merge_request::create::{MergeRequestDraft, open_merge_request},
};

/// Letters of a branch's name.
const LONGEST_NAME: usize = 100;
/// Letters of the issue's title in that of the merge request.
const LONGEST_TITLE: usize = 230;
/// So many names are tried before the usual one counts as taken.
const TRIES: u32 = 20;

/// Makes a branch at the default one and proposes it; the answer is what it is called.
///
/// # Errors
/// `Forbidden` for those who may not push or propose, `BadRequest` where there can be no such branch.
pub async fn propose<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    caller: &User,
    item: &Item,
    name: Option<String>,
) -> Result<String> {
    let source: Grant<ProposeMergeRequests> = grant.also()?;
    grant.also::<CreateMergeRequests>()?;
    let default = grant.facts().default_branch.clone().ok_or_else(|| Error::not_found("Branch"))?;
    let branch = make_branch(forge, &grant.also()?, caller, item, name, &default).await?;
    let (project, by, iid) = (grant.project(), caller.id, item.iid);
    let attributes = forge.db.read(move |tx| {
        let issue = tx.find_issue(project, iid)?.ok_or_else(Error::missing)?;
        let labels = tx.labels_of(issue.item().id.kind, &[issue.id.0])?.remove(&issue.id.0);
        let labels = labels.unwrap_or_default().into_iter().map(|label| label.name).collect();
        Ok(NewMergeRequest {
            title: title(&issue),
            description: Some(format!("Closes #{iid}")),
            labels: LabelChange { all: Some(labels), ..LabelChange::default() },
            assignees: Some(vec![by]),
            milestone: issue.milestone_id,
            ..NewMergeRequest::default()
        })
    });
    let draft = MergeRequestDraft {
        source_branch: branch.clone(),
        target: project,
        target_branch: default,
        attributes: attributes.await?,
    };
    open_merge_request(forge, &source, draft).await?;
    Ok(branch)
}

async fn make_branch(
    forge: &Forge,
    grant: &Grant<PushCode>,
    caller: &User,
    item: &Item,
    name: Option<String>,
    default: &str,
) -> Result<String> {
    let name = match name {
        Some(name) => name,
        None => free_name(forge, grant, usual_name(item)).await?,
    };
    branch::create(forge, grant, caller, &name, default).await?;
    Ok(name)
}

/// The usual name, with a number where there is such a branch already.
async fn free_name(forge: &Forge, grant: &Grant<PushCode>, usual: String) -> Result<String> {
    let read = forge.git_read(grant.project(), move |reader| {
        let mut free = usual.clone();
        for number in 2..TRIES {
            if reader.find_reference(&RefName::branch(&free)?)?.is_none() {
                break;
            }
            free = format!("{usual}-{number}");
        }
        Ok(free)
    });
    read.await
}

fn title(issue: &Issue) -> String {
    let title: String = issue.title.chars().take(LONGEST_TITLE).collect();
    format!("Draft: Resolve \"{title}\"")
}

/// `12-green-tea-gets-bitter`; what is confidential does not show.
fn usual_name(item: &Item) -> String {
    if item.confidential {
        return format!("{}-confidential-issue", item.iid);
    }
    let mut name = item.iid.to_string();
    let words = item.title.split(|letter: char| !letter.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if name.len() + 1 + word.len() > LONGEST_NAME {
            break;
        }
        name.push('-');
        name.push_str(&word.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ts,
        ids::{IssueId, ProjectId, UserId},
    };
    use review::{Home, item::Item};

    use super::usual_name;

    fn named(title: &str, confidential: bool) -> String {
        usual_name(&Item {
            id: IssueId(1).into(),
            home: Home::Project(ProjectId(1)),
            iid: 12,
            author: UserId(1),
            title: title.to_owned(),
            description: None,
            state: "opened".to_owned(),
            confidential,
            locked: false,
            updated_at: Ts(0),
        })
    }

    #[test]
    fn a_branch_is_called_like_its_issue() {
        assert_eq!(named("Green tea, gets  bitter!", false), "12-green-tea-gets-bitter");
        assert_eq!(named("Über .. ~^:", false), "12-ber");
        assert_eq!(named("…", false), "12");
        assert_eq!(named(&"word ".repeat(99), false).len(), 97);
        assert_eq!(named("Secret", true), "12-confidential-issue");
    }
}
