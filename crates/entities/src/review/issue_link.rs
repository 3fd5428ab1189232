//! Issues that have to do with each other.

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts};
use review::issue::link::{
    LinkType,
    actions::{LinkWithIssues, RelatedIssue},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::issue::{IssueEntity, IssueView};

/// A linked issue with the type of the link.
#[derive(Debug, Serialize, ToSchema)]
pub struct RelatedIssueEntity {
    #[serde(flatten)]
    pub issue: IssueEntity,
    pub issue_link_id: i64,
    #[schema(value_type = String)]
    pub link_type: LinkType,
    #[schema(value_type = String)]
    pub link_created_at: Ts,
    #[schema(value_type = String)]
    pub link_updated_at: Ts,
}

impl RelatedIssueEntity {
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        related: Vec<RelatedIssue>,
        view: &IssueView,
    ) -> Result<Vec<Self>> {
        let issues = related.iter().map(|related| related.issue.clone()).collect();
        let shown = IssueEntity::all(tx, urls, issues, view)?;
        let entity = |(issue, related): (IssueEntity, RelatedIssue)| Self {
            issue,
            issue_link_id: related.link.id,
            link_type: related.link_type,
            link_created_at: related.link.created_at,
            link_updated_at: related.link.updated_at,
        };
        Ok(shown.into_iter().zip(related).map(entity).collect())
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct IssueLinkEntity {
    pub id: i64,
    pub source_issue: IssueEntity,
    pub target_issue: IssueEntity,
    #[schema(value_type = String)]
    pub link_type: LinkType,
}

impl IssueLinkEntity {
    pub fn one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        linked: LinkWithIssues,
        view: &IssueView,
    ) -> Result<Self> {
        let LinkWithIssues { link, source, target } = linked;
        let ends = IssueEntity::all(tx, urls, vec![source, target], view)?;
        let [source_issue, target_issue] =
            <[IssueEntity; 2]>::try_from(ends).map_err(|_lost| kernel::Error::missing())?;
        Ok(Self { id: link.id, source_issue, target_issue, link_type: link.link_type })
    }
}
