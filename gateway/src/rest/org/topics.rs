//! Topics of projects.

use entities::org::topic::TopicEntity;
use forge::files::{
    Upload,
    avatars::{Owner, StagedAvatar, find as find_picture, finish_change, stage_change, tidy},
};
use kernel::{
    Error, Result,
    access::{Administrate, Anyone},
};
use org::topic::{
    Topic, TopicFilter, TopicRecordStore as _,
    actions::{self, TopicChange},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, NonEmpty},
    params,
    present::{Created, Custom, Json, NoContent, PagedList},
    rest::shared::uploaded_files::file_response,
    routes,
};

routes! { "Topics" at "";
    GET    "/topics"            => list   : Anyone,
    GET    "/topics/{topic_id}" => show   : Anyone,
    POST   "/topics"            => create : Administrate,
    PUT    "/topics/{topic_id}" => update : Administrate,
    DELETE "/topics/{topic_id}" => remove : Administrate,
    GET "//uploads/-/system/projects/topic/avatar/{topic_id}/{filename}" => picture : Anyone,
}

params! {
    pub struct ListTopics: paged {
        /// Only topics with this text in their name.
        search: Option<String>,
        /// Only topics that no project has.
        without_projects: bool = false,
    }
}

async fn list(app: App, call: Call<Anyone, ListTopics>) -> ApiResult<PagedList<TopicEntity>> {
    let (given, page) = (call.params, call.page);
    let filter = TopicFilter { search: given.search, without_projects: given.without_projects };
    let found = app.db.read(move |tx| {
        let page = tx.topics(&filter, page)?;
        let ids: Vec<i64> = page.items.iter().map(|topic| topic.id).collect();
        Ok((page, tx.projects_by_topic(&ids)?))
    });
    let (topics, counts) = found.await?;
    let count = |topic: &Topic| counts.get(&topic.id).copied().unwrap_or_default();
    Ok(PagedList(topics.map(|topic| TopicEntity::new(&app.urls, count(&topic), topic))))
}

params! {
    pub struct OneTopic {
        topic_id: i64,
    }
}

async fn topic_entity(app: &App, topic: Topic) -> Result<TopicEntity> {
    let id = topic.id;
    let counts = app.db.peek(move |tx| tx.projects_by_topic(&[id])).await?;
    Ok(TopicEntity::new(&app.urls, counts.get(&id).copied().unwrap_or_default(), topic))
}

async fn show(app: App, call: Call<Anyone, OneTopic>) -> ApiResult<Json<TopicEntity>> {
    let id = call.params.topic_id;
    let topic = app.db.peek(move |tx| actions::find(tx, id)).await?;
    Ok(Json(topic_entity(&app, topic).await?))
}

params! {
    struct CreateTopic {
        /// Name of the topic, as used in the topics of projects.
        name: NonEmpty,
        /// Title of the topic, as shown in the user interface.
        title: NonEmpty,
        description: Option<String>,
        avatar: Change<Upload>,
    }
}

fn avatar_name(change: &Option<Option<StagedAvatar>>) -> Option<Option<String>> {
    change.as_ref().map(|file| file.as_ref().map(|file| file.name.clone()))
}

async fn create(
    app: App,
    call: Call<Administrate, CreateTopic>,
) -> ApiResult<Created<TopicEntity>> {
    let (grant, given) = (call.grant, call.params);
    let picture = stage_change(&app, given.avatar.into_update()).await?;
    let change = TopicChange {
        name: Some(given.name.0),
        title: Some(given.title.0),
        description: given.description,
        avatar: avatar_name(&picture),
    };
    let made = app.db.write(move |tx| {
        let made = actions::create(tx, &grant, change.clone())?;
        finish_change(tx, picture.clone(), Owner::Topic(made.id))?;
        Ok(made)
    });
    Ok(Created(topic_entity(&app, made.await?).await?))
}

params! {
    struct UpdateTopic {
        topic_id: i64,
        /// Name of the topic, as used in the topics of projects.
        name: Option<String>,
        /// Title of the topic, as shown in the user interface.
        title: Option<String>,
        description: Option<String>,
        avatar: Change<Upload>,
    }
}

async fn update(app: App, call: Call<Administrate, UpdateTopic>) -> ApiResult<Json<TopicEntity>> {
    let (grant, given) = (call.grant, call.params);
    let (id, picture) = (given.topic_id, stage_change(&app, given.avatar.into_update()).await?);
    let has_new_picture = picture.is_some();
    let change = TopicChange {
        name: given.name,
        title: given.title,
        description: given.description,
        avatar: avatar_name(&picture),
    };
    let kept = app.db.write(move |tx| {
        let kept = actions::update(tx, &grant, id, change.clone())?;
        finish_change(tx, picture.clone(), Owner::Topic(id))?;
        Ok(kept)
    });
    let kept = kept.await?;
    if has_new_picture {
        tidy(&app, Owner::Topic(id), kept.avatar.clone()).await?;
    }
    Ok(Json(topic_entity(&app, kept).await?))
}

async fn remove(app: App, call: Call<Administrate, OneTopic>) -> ApiResult<NoContent> {
    let (grant, id) = (call.grant, call.params.topic_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id)).await?;
    tidy(&app, Owner::Topic(id), None).await?;
    Ok(NoContent)
}

params! {
    struct OnePicture {
        topic_id: i64,
        filename: String,
    }
}

async fn picture(app: App, call: Call<Anyone, OnePicture>) -> ApiResult<Custom> {
    let OnePicture { topic_id, filename } = call.params;
    let topic = app.db.peek(move |tx| actions::find(tx, topic_id)).await?;
    let name = topic.avatar.filter(|name| *name == filename).ok_or_else(Error::missing)?;
    file_response(&app.avatars, &find_picture(Owner::Topic(topic_id), &name)?, &name).await
}
