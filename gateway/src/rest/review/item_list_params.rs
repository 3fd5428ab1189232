//! Parameters shared by lists of issues and merge requests.

use db::Tx;
use kernel::{Result, Ts, ids::UserId};
use org::user::names::{all_people, known_people, person, person_or_nobody};
use review::item::list::{Choice, Common, Fields, NotCommon, Search};

use crate::{
    extract::Csv,
    params,
    rest::shared::{
        choices::{NumberChoice, SearchedFields, TextChoice, TextsChoice},
        user_filters::one_of,
    },
};

params! {
    /// Which items a list shows.
    pub struct FilterItems: paged {
        /// Labels that items must all have, or `None` or `Any`.
        labels: Option<TextsChoice>,
        /// Title of the milestone, or `None` or `Any`.
        milestone: Option<TextChoice>,
        iids: Option<Csv<i64>>,
        /// Words that must occur in title or description.
        search: Option<String>,
        r#in: Option<SearchedFields>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        updated_after: Option<Ts>,
        updated_before: Option<Ts>,
        /// Name of an emoji with which the caller reacted, or `None` or `Any`.
        my_reaction_emoji: Option<TextChoice>,
    } with exclusive("author_id", "author_username"), exclusive("assignee_id", "assignee_username");
}

params! {
    /// Which items a list leaves out.
    pub struct NotItems {
        labels: Option<Csv<String>>,
        milestone: Option<TextChoice>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
    }
}

/// Whose items are meant, beside those of whom a filter names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub author: Option<UserId>,
    pub assignee: Option<UserId>,
}

impl FilterItems {
    pub fn filter(self, tx: &mut Tx<'_>, share: Share, not: NotCommon) -> Result<Common> {
        let mut authors: Vec<UserId> = self.author_id.into_iter().chain(share.author).collect();
        if let Some(name) = self.author_username.filter(|name| !name.is_empty()) {
            authors.push(person_or_nobody(tx, &name)?);
        }
        let shared = share.assignee.map(|user| Choice::These(vec![user]));
        let mut assignees: Vec<Choice<Vec<UserId>>> =
            self.assignee_id.as_ref().map(one_of).into_iter().chain(shared).collect();
        if let Some(Csv(names)) = self.assignee_username {
            assignees.push(Choice::These(all_people(tx, &names)?));
        }
        let fields = self.r#in.map_or(Fields::Both, |fields| fields.0);
        Ok(Common {
            created_after: self.created_after,
            created_before: self.created_before,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            search: self.search.map(|text| Search { text, fields }),
            authors,
            assignees,
            iids: self.iids.map(|iids| iids.0).filter(|iids| !iids.is_empty()),
            labels: self.labels.map(|labels| labels.0),
            milestone: self.milestone.map(TextChoice::into_milestone),
            reaction: self.my_reaction_emoji.map(|reaction| reaction.0),
            not,
            ..Common::default()
        })
    }
}

impl NotItems {
    pub fn filter(self, tx: &mut Tx<'_>) -> Result<NotCommon> {
        let named = match self.author_username {
            Some(name) => person(tx, &name)?,
            None => None,
        };
        let assignees = match self.assignee_username {
            Some(Csv(names)) => Some(Choice::These(known_people(tx, &names)?)),
            None => None,
        };
        Ok(NotCommon {
            labels: self.labels.unwrap_or_default().0,
            milestone: self.milestone.map(TextChoice::into_milestone),
            author: self.author_id.or(named),
            assignee: self.assignee_id.as_ref().map(one_of).or(assignees),
        })
    }
}
