//! Plans a change of a wiki as the file actions of one commit.

use kernel::{Error, Result};

use super::{
    Attachment, PageFormat,
    find::{self, PageFile, no_page},
    name::{self, Title},
};
use crate::git::{
    Oid, Reader, TreePath,
    change::{ActionKind, FileAction},
};

/// The change of a wiki page.
#[derive(Clone, Debug)]
pub enum WikiChange {
    Create {
        title: String,
        format: PageFormat,
        content: String,
    },
    Update {
        slug: String,
        /// Where it is left out, the page stays where it is.
        title: Option<String>,
        format: PageFormat,
        content: Option<String>,
    },
    Delete {
        slug: String,
    },
    Attach(Attachment),
}

/// The commit to be made.
pub(super) struct Plan {
    pub actions: Vec<FileAction>,
    pub message: String,
    /// The file that matters: of the page, as it is called afterwards, or of the attachment.
    pub path: String,
}

/// The wiki as it is: nothing while nobody wrote to it.
pub(super) type CurrentWiki<'a> = Option<(&'a Reader, Oid)>;

impl WikiChange {
    /// Refuses what the rules of pages refuse. `who` is the name that stands in the message, `most` how many bytes a page
    /// may have.
    pub(super) fn plan(&self, now: CurrentWiki<'_>, who: &str, most: usize) -> Result<Plan> {
        match self {
            Self::Create { title, format, content } => {
                let title = Title::parse(title);
                name::check(Some(&title), Some(content), most)?;
                create(now, who, &title, *format, content)
            }
            Self::Update { slug, title, format, content } => {
                let (reader, tip) = now.ok_or_else(no_page)?;
                let old = find::page(reader, tip, slug)?;
                let title = title.as_deref().map(|text| new_title(text, &old));
                name::check(title.as_ref(), content.as_deref(), most)?;
                let content = content.as_deref();
                Update { reader, tip, old, title, format: *format, content }.plan(who)
            }
            Self::Delete { slug } => {
                let (reader, tip) = now.ok_or_else(no_page)?;
                let page = find::page(reader, tip, slug)?;
                let message = format!("{who} deleted page: {}", page.title());
                let actions = vec![FileAction::new(ActionKind::Delete, page.path.as_str())];
                Ok(Plan { actions, message, path: page.path })
            }
            Self::Attach(file) => {
                let action = FileAction::new(ActionKind::Create, file.path.as_str());
                let message = format!("Upload attachment {}", file.name);
                let actions = vec![action.content(file.content.clone())];
                Ok(Plan { actions, message, path: file.path.clone() })
            }
        }
    }
}

fn create(
    now: CurrentWiki<'_>,
    who: &str,
    title: &Title,
    format: PageFormat,
    content: &str,
) -> Result<Plan> {
    let slug = title.slug();
    if let Some((reader, tip)) = now
        && let Some(other) = find::with_slug(reader, tip, &slug)?.first()
    {
        let path = &other.path;
        return Err(Error::invalid(
            "base",
            format!("Duplicate page: A page with that title already exists in the file {path}"),
        ));
    }
    let path = format!("{slug}.{}", format.ending());
    let action = FileAction::new(ActionKind::Create, path.as_str()).content(content.to_owned());
    let message = format!("{who} created page: {}", title.whole());
    Ok(Plan { actions: vec![action], message, path })
}

fn new_title(text: &str, old: &PageFile) -> Title {
    match text.trim().is_empty() {
        true => Title::parse(""),
        false => Title::beside(text, name::folder_of(&old.slug)),
    }
}

struct Update<'a> {
    reader: &'a Reader,
    tip: Oid,
    old: PageFile,
    title: Option<Title>,
    format: PageFormat,
    content: Option<&'a str>,
}

impl Update<'_> {
    fn plan(self, who: &str) -> Result<Plan> {
        let Self { old, title, format, content, .. } = &self;
        let slug = title.as_ref().map_or_else(|| old.slug.clone(), Title::slug);
        let ending = if old.markup.is(*format) { old.ending() } else { format.ending() };
        let path = format!("{slug}.{ending}");
        let words = title.as_ref().map_or_else(|| slug.replace('-', " "), Title::whole);
        let message = format!("{who} updated page: {words}");
        let mut actions = Vec::new();
        let with_content = |action: FileAction| match content {
            Some(content) => action.content((*content).to_owned()),
            None => action,
        };
        if path != old.path {
            self.ensure_free(&slug)?;
            actions.push(with_content(
                FileAction::new(ActionKind::Move, path.as_str()).from(old.path.as_str()),
            ));
        } else if content.is_some() {
            actions.push(with_content(FileAction::new(ActionKind::Update, path.as_str())));
        }
        if slug != old.slug {
            self.move_children(&slug, &mut actions)?;
        }
        Ok(Plan { actions, message, path })
    }

    fn ensure_free(&self, slug: &str) -> Result<()> {
        let others = find::with_slug(self.reader, self.tip, slug)?;
        if others.iter().any(|other| other.path != self.old.path) {
            return Err(taken());
        }
        Ok(())
    }

    /// Pages in the folder of the same name move along.
    fn move_children(&self, slug: &str, actions: &mut Vec<FileAction>) -> Result<()> {
        let folder = TreePath::lookup(&self.old.slug)?;
        for child in find::below(self.reader, self.tip, &folder)? {
            let rest = child.path.strip_prefix(self.old.slug.as_str()).unwrap_or_default();
            let to = format!("{slug}{rest}");
            let target = TreePath::new(&to)
                .map_err(|_long| Error::invalid("title", "is invalid for a page below it"))?;
            if self.reader.find_entry(self.tip, &target)?.is_some() {
                return Err(taken());
            }
            actions.push(FileAction::new(ActionKind::Move, to).from(child.path));
        }
        Ok(())
    }
}

fn taken() -> Error {
    Error::invalid("base", "There is already a page with the same title in that path.")
}
