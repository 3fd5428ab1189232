//! Notes about what is no item of a review: alerts and vulnerabilities. They are told in the shape of all notes, each
//! in a discussion of its own that takes no replies.

use graphql::{Connection, Failure, Page, Value};
use kernel::{
    Ts,
    ids::{ProjectId, UserId},
};

use super::{
    context::Context,
    join::try_join_all,
    people, projects,
    values::{markdown, time},
};

/// The object that a note is about.
#[derive(Clone, Debug)]
pub struct Subject {
    pub project: ProjectId,
    /// The thing itself.
    pub value: Value,
    /// Its class and number in global ids.
    pub class: &'static str,
    pub id: i64,
    /// The address of its page.
    pub page: String,
    /// The class of its notes in global ids, which no mutation takes.
    pub note_class: &'static str,
    /// Whether the caller may speak of it.
    pub open: bool,
}

/// One note of a subject.
#[derive(Clone, Debug)]
pub struct OtherNote {
    pub id: i64,
    /// `None` where the installation wrote it, and for somebody who is gone.
    pub author: Option<UserId>,
    pub body: String,
    pub system: bool,
    pub icon: Option<&'static str>,
    pub created_at: Ts,
}

/// A page of notes.
///
/// # Errors
/// When the database failed.
pub async fn notes(
    context: &Context,
    subject: &Subject,
    all: &[OtherNote],
    page: &Page,
) -> Result<Value, Failure> {
    let (total, part) = window(all, page);
    let values = try_join_all(part.into_iter().map(|one| note(context, subject, one))).await?;
    Ok(Connection::of_slice(page, values, Some(total)).into())
}

/// A page of discussions, each of one note.
///
/// # Errors
/// When the database failed.
pub async fn discussions(
    context: &Context,
    subject: &Subject,
    all: &[OtherNote],
    page: &Page,
) -> Result<Value, Failure> {
    let (total, part) = window(all, page);
    let values = try_join_all(part.into_iter().map(|one| async move {
        let note = said(context, subject, one, Value::Null).await?;
        Ok::<_, Failure>(discussion(subject, one, note))
    }));
    let values = values.await?;
    Ok(Connection::of_slice(page, values, Some(total)).into())
}

fn window<'n>(all: &'n [OtherNote], page: &Page) -> (u64, Vec<&'n OtherNote>) {
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let offset = usize::try_from(page.offset_within(total)).unwrap_or(usize::MAX);
    (total, all.iter().skip(offset).take(page.limit()).collect())
}

/// A note with its discussion.
///
/// # Errors
/// When the database failed.
pub async fn note(context: &Context, subject: &Subject, one: &OtherNote) -> Result<Value, Failure> {
    let inside = said(context, subject, one, Value::Null).await?;
    said(context, subject, one, discussion(subject, one, inside)).await
}

fn discussion(subject: &Subject, one: &OtherNote, note: Value) -> Value {
    // A number that no discussion of an item has: those are random.
    let id = || Value::gid("Discussion", format!("{:040x}", one.id));
    let notes = Connection::of_list(&Page::beginning(), vec![note]);
    Value::fields(
        "Discussion",
        [
            ("createdAt", time(one.created_at)),
            ("id", id()),
            ("noteable", subject.value.clone()),
            ("notes", notes.into()),
            ("replyId", id()),
            ("resolvable", false.into()),
            ("resolved", false.into()),
            ("resolvedAt", Value::Null),
            ("resolvedBy", Value::Null),
        ],
    )
}

async fn said(
    context: &Context,
    subject: &Subject,
    one: &OtherNote,
    discussion: Value,
) -> Result<Value, Failure> {
    let author = match one.author {
        Some(user) => people::of_id(context, user).await?,
        None => Value::Null,
    };
    let html = markdown(&context.forge, Some(&one.body), Some(subject.project)).await?;
    let project = projects::of_id(context, subject.project).await?;
    Ok(Value::fields(
        "Note",
        [
            ("author", author),
            ("awardEmoji", Connection::empty().into()),
            ("body", one.body.as_str().into()),
            ("bodyHtml", html),
            ("confidential", false.into()),
            ("createdAt", time(one.created_at)),
            ("discussion", discussion),
            ("id", Value::gid(subject.note_class, one.id)),
            ("internal", false.into()),
            ("noteableId", Value::gid(subject.class, subject.id)),
            ("noteableType", subject.class.into()),
            ("position", Value::Null),
            ("project", project),
            ("resolvable", false.into()),
            ("resolved", false.into()),
            ("resolvedAt", Value::Null),
            ("resolvedBy", Value::Null),
            ("system", one.system.into()),
            ("systemNoteIconName", one.icon.into()),
            ("updatedAt", time(one.created_at)),
            ("url", format!("{}#note_{}", subject.page, one.id).into()),
            ("userPermissions", permissions(subject)),
        ],
    ))
}

/// Nobody changes what was said.
fn permissions(subject: &Subject) -> Value {
    Value::fields(
        "NotePermissions",
        [
            ("adminNote", false.into()),
            ("awardEmoji", false.into()),
            ("createNote", subject.open.into()),
            ("readNote", true.into()),
            ("repositionNote", false.into()),
            ("resolveNote", false.into()),
        ],
    )
}
