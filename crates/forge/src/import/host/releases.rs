//! Releases of the source. Their tags came with the repository; drafts have none, and stay there. Their files stay there,
//! too: links lead to them.

use std::collections::HashMap;

use admin::import::Relation;
use repo::release::{
    NewRelease,
    link::{LinkType, NewLink},
};
use serde_json::Value;

use super::step::{HostStep, failure};
use crate::{
    import::{
        SourceError,
        batch::{Batch, Step},
        json::{fitting, host_user, moment, name, text},
    },
    release::commits_of_tags,
};

const NO_TAG: &str = "it has no tag here";

impl HostStep<'_> {
    pub(super) async fn releases(&self) -> Result<Step, SourceError> {
        let (items, mut step) = self.open_list("releases", Relation::Release).await?;
        let is_draft = |item: &Value| item["draft"].as_bool().unwrap_or_default();
        let all: Vec<&Value> = items.iter().filter(|item| !is_draft(item)).collect();
        let users: Vec<_> = all.iter().map(|item| host_user(&item["author"])).collect();
        let known = self.people.find(&users).await?;
        let tags = all.iter().map(|item| text(item, "tag_name").to_owned()).collect();
        let commits = commits_of_tags(self.forge, self.project(), tags).await?;
        let (mut rows, mut links) = (Vec::new(), HashMap::new());
        for (item, sha) in all.iter().zip(commits) {
            let tag = text(item, "tag_name");
            if sha.is_empty() {
                step.failures.push(failure(Relation::Release, tag, NO_TAG));
                continue;
            }
            let author = host_user(&item["author"]);
            let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
            links.insert(tag.to_owned(), files(item));
            rows.push(NewRelease {
                tag: tag.to_owned(),
                name: name(item, "name").or_else(|| name(item, "tag_name")).unwrap_or_default(),
                description: fitting(&known.text(&author, text(item, "body"))),
                author_id: Some(known.author(&author)),
                sha,
                released_at: moment(item, "published_at").unwrap_or(created_at),
                created_at,
            });
        }
        let fetched = Some((Relation::Release, items.len()));
        Ok(Step { batch: Batch::Releases(rows, links), fetched, people: known.new, ..step })
    }
}

/// The files of a release, as links to them.
fn files(item: &Value) -> Vec<NewLink> {
    let all = item["assets"].as_array().into_iter().flatten();
    let link = |file: &Value| NewLink {
        name: name(file, "name").unwrap_or_default(),
        url: text(file, "browser_download_url").to_owned(),
        filepath: None,
        link_type: LinkType::Other,
    };
    all.map(link).collect()
}
