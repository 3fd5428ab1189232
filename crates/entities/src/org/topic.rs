//! Topics of projects.

use forge::urls::Urls;
use org::topic::Topic;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct TopicEntity {
    pub id: i64,
    /// Name of the topic, as used in the topics of projects.
    pub name: String,
    /// Title of the topic, as shown in the user interface.
    pub title: String,
    pub description: Option<String>,
    /// Number of projects with the topic.
    pub total_projects_count: i64,
    pub avatar_url: Option<String>,
}

impl TopicEntity {
    pub fn new(urls: &Urls, projects: i64, topic: Topic) -> Self {
        let picture = topic.avatar.as_ref().map(|file| {
            urls.at(&format!("uploads/-/system/projects/topic/avatar/{}/{file}", topic.id))
        });
        Self {
            id: topic.id,
            title: topic.shown_title().to_owned(),
            name: topic.name,
            description: topic.description,
            total_projects_count: projects,
            avatar_url: picture,
        }
    }
}
