//! Topics in the database.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error, lower,
    schema::{project_topics, topics},
};
use diesel::{dsl::count_star, prelude::*};
use kernel::{
    Result,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Topic, TopicFilter};
use crate::search::containing;

const NOUN: &str = "Topic";

pub trait TopicRecordStore {
    /// Those of most projects first.
    fn topics(&mut self, filter: &TopicFilter, page: PageRequest) -> Result<Page<Topic>>;
    fn topic(&mut self, id: i64) -> Result<Option<Topic>>;
    fn topic_named(&mut self, name: &str) -> Result<Option<Topic>>;
    /// How many projects have each of these topics.
    fn projects_by_topic(&mut self, topics: &[i64]) -> Result<HashMap<i64, i64>>;
    fn insert_topic(&mut self, new: &Topic) -> Result<Topic>;
    fn save_topic(&mut self, topic: &Topic) -> Result<()>;
    fn delete_topic(&mut self, id: i64) -> Result<()>;
}

macro_rules! chosen {
    ($filter:expr) => {{
        let filter: &TopicFilter = $filter;
        let mut rows = topics::table.into_boxed();
        if let Some(words) = filter.search.as_deref().filter(|words| !words.is_empty()) {
            rows = rows.filter(lower(topics::name).like(containing(words)).escape('\\'));
        }
        if filter.without_projects {
            let used = project_topics::table.select(project_topics::topic_id);
            rows = rows.filter(topics::id.ne_all(used));
        }
        rows
    }};
}

impl TopicRecordStore for Tx<'_> {
    fn topics(&mut self, filter: &TopicFilter, page: PageRequest) -> Result<Page<Topic>> {
        let items: Vec<Topic> = each_backend!(self, |conn| {
            let projects = project_topics::table
                .filter(project_topics::topic_id.eq(topics::id))
                .select(count_star())
                .single_value();
            chosen!(filter)
                .order((projects.desc(), topics::name))
                .limit(page.per_page)
                .offset(page.offset())
                .select(Topic::as_select())
                .load(conn)
                .map_err(error(NOUN))
        })?;
        let total = each_backend!(self, |conn| {
            let count = CountOf(chosen!(filter).select(topics::id).limit(COUNT_LIMIT + 1));
            count.get_result(conn).map_err(error(NOUN))
        })?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        let row = topics::table.find(id);
        each_backend!(self, |conn| row
            .select(Topic::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn topic_named(&mut self, name: &str) -> Result<Option<Topic>> {
        let row = topics::table.filter(topics::name.eq(name));
        each_backend!(self, |conn| row
            .select(Topic::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn projects_by_topic(&mut self, ids: &[i64]) -> Result<HashMap<i64, i64>> {
        let rows = project_topics::table
            .filter(project_topics::topic_id.one_of(ids))
            .group_by(project_topics::topic_id)
            .select((project_topics::topic_id, count_star()));
        let rows: Vec<(i64, i64)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))?;
        Ok(rows.into_iter().collect())
    }

    fn insert_topic(&mut self, new: &Topic) -> Result<Topic> {
        let row = (
            topics::name.eq(&new.name),
            topics::title.eq(&new.title),
            topics::description.eq(&new.description),
            topics::avatar.eq(&new.avatar),
        );
        let insert = diesel::insert_into(topics::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Topic::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_topic(&mut self, topic: &Topic) -> Result<()> {
        let row = (
            topics::name.eq(&topic.name),
            topics::title.eq(&topic.title),
            topics::description.eq(&topic.description),
            topics::avatar.eq(&topic.avatar),
        );
        let update = diesel::update(topics::table.find(topic.id)).set(row);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_topic(&mut self, id: i64) -> Result<()> {
        let delete = diesel::delete(topics::table.find(id));
        each_backend!(self, |conn| delete.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
