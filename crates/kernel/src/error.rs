//! Errors in the caller's terms. The gateway alone owns status codes and bodies.

mod kind;
mod message;

use std::{borrow::Cow, error::Error as StdError, fmt, ops::Deref};

use crate::SystemFault;

pub use kind::Kind;
pub use message::{FieldErrors, Message};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The source of an internal error.
type Cause = Box<dyn StdError + Send + Sync>;

/// A failure: its meaning, the form of its message, and the cause behind it.
///
/// There is a constructor for each [`Kind`], with the default [`Message`] of that kind. The methods after them replace the message:
/// `Error::forbidden().because("Cannot push to source branch")`.
///
/// It is one pointer, since each `?` moves it and each [`Result`] has room for it. So it is made where something fails, and
/// not before: `ok_or_else`, not `ok_or`.
pub struct Error(Box<Details>);

/// What an [`Error`] points to.
pub struct Details {
    pub kind: Kind,
    pub message: Message,
    /// Set if and only if the failure is not the caller's fault.
    cause: Option<Cause>,
}

impl Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

/// One constructor for each kind, and a few shorthands for frequent messages.
impl Error {
    #[cold]
    fn new(kind: Kind, message: Message, cause: Option<Cause>) -> Self {
        Self(Box::new(Details { kind, message, cause }))
    }

    #[cold]
    fn plain(kind: Kind) -> Self {
        Self::new(kind, Message::Default, None)
    }

    #[cold]
    pub fn unauthenticated() -> Self {
        Self::plain(Kind::Unauthenticated)
    }

    #[cold]
    pub fn forbidden() -> Self {
        Self::plain(Kind::Forbidden)
    }

    /// Names the kind of thing that does not exist: `Project`, `File`, `Merge Base`.
    #[cold]
    pub fn not_found(what: &'static str) -> Self {
        Self::new(Kind::NotFound, Message::Subject(Cow::Borrowed(what)), None)
    }

    /// As [`Error::not_found`], without a name: for a child that is looked up by its id or name.
    #[cold]
    pub fn missing() -> Self {
        Self::plain(Kind::NotFound)
    }

    /// As [`Error::not_found`], where the response must not say what is missing.
    #[cold]
    pub fn hidden() -> Self {
        Self::new(Kind::NotFound, Message::Hidden, None)
    }

    #[cold]
    pub fn bad_request() -> Self {
        Self::plain(Kind::BadRequest)
    }

    /// A [`Kind::BadRequest`] about one field, with one text.
    pub fn invalid(field: &str, text: impl Into<String>) -> Self {
        Self::one_field(field, text.into())
    }

    #[cold]
    fn one_field(field: &str, text: String) -> Self {
        Self::bad_request().fields(vec![(field.to_owned(), vec![text])])
    }

    #[cold]
    pub fn unprocessable() -> Self {
        Self::plain(Kind::Unprocessable)
    }

    #[cold]
    pub fn conflict() -> Self {
        Self::plain(Kind::Conflict)
    }

    #[cold]
    pub fn gave_way() -> Self {
        Self::plain(Kind::GaveWay)
    }

    #[cold]
    pub fn precondition() -> Self {
        Self::plain(Kind::Precondition)
    }

    #[cold]
    pub fn not_acceptable() -> Self {
        Self::plain(Kind::NotAcceptable)
    }

    #[cold]
    pub fn not_allowed() -> Self {
        Self::plain(Kind::NotAllowed)
    }

    #[cold]
    pub fn unchanged() -> Self {
        Self::plain(Kind::Unchanged)
    }

    /// Takes the name of what is too large, for the log only.
    pub fn too_large(what: impl Into<String>) -> Self {
        Self::plain(Kind::TooLarge).with(Message::LogOnly(what.into()))
    }

    /// Takes the seconds after which the caller may try again.
    #[cold]
    pub fn too_many(retry_after: u64) -> Self {
        Self::plain(Kind::TooMany { retry_after })
    }

    /// Takes the reason, for the log only.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::plain(Kind::Unavailable).with(Message::LogOnly(why.into()))
    }

    /// A [`Kind::Unavailable`] because the server lacks something that it needs: its database, open files, memory.
    pub fn out_of_reach(cause: impl Into<Cause>) -> Self {
        Self::ours(Kind::Unavailable, cause.into())
    }

    /// A failure that is not the caller's: of the machine if the cause is one, else of the program.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::fault(cause.into())
    }

    #[cold]
    fn fault(cause: Cause) -> Self {
        match SystemFault::behind(&*cause) {
            Some(SystemFault::NoRoom) => Self::ours(Kind::Full, cause),
            Some(SystemFault::NoMeans) => Self::ours(Kind::Unavailable, cause),
            Some(SystemFault::LongName) => Self::bad_request().because("a name is too long"),
            None => Self::ours(Kind::Internal, cause),
        }
    }

    #[cold]
    fn ours(kind: Kind, cause: Cause) -> Self {
        Self::new(kind, Message::Default, Some(cause))
    }
}

/// Other messages than the default one.
impl Error {
    #[cold]
    fn with(mut self, message: Message) -> Self {
        self.0.message = message;
        self
    }

    /// As [`Error::not_found`], for a name that is made at run time: `User with ID or username 'ada'`.
    pub fn named(self, what: String) -> Self {
        self.with(Message::Subject(Cow::Owned(what)))
    }

    /// Appends the reason to the words of the kind.
    pub fn because(self, reason: impl Into<String>) -> Self {
        self.with(Message::Reason(reason.into()))
    }

    /// As [`Error::because`], for a change that the caller may make and the state of the resource does not allow.
    pub fn in_this_state(self, reason: impl Into<String>) -> Self {
        self.with(Message::State(reason.into()))
    }

    /// Replaces the words of the kind by this sentence.
    pub fn whole(self, text: impl Into<String>) -> Self {
        self.with(Message::Whole(text.into()))
    }

    pub fn sentences(self, texts: Vec<String>) -> Self {
        self.with(Message::Sentences(texts))
    }

    pub fn fields(self, fields: FieldErrors) -> Self {
        self.with(Message::Fields(fields))
    }

    /// Reports invalid parameters; the text names each.
    pub fn parameters(self, text: impl Into<String>) -> Self {
        self.with(Message::Parameters(text.into()))
    }

    /// Reports that the caller has as many as the text allows.
    pub fn limit(self, text: impl Into<String>) -> Self {
        self.with(Message::Limit(text.into()))
    }

    /// As [`Error::whole`], with a short code for programs.
    pub fn coded(self, text: impl Into<String>, code: &'static str) -> Self {
        self.with(Message::Coded { text: text.into(), code })
    }
}

impl Error {
    /// Whether the server is at fault, not the caller.
    pub fn is_ours(&self) -> bool {
        self.cause.is_some()
    }

    /// Whether the machine lacks something at the moment, so that the next attempt fails as well.
    pub fn is_of_machine(&self) -> bool {
        self.is_ours() && self.kind != Kind::Internal
    }

    /// Whether the error is of this kind and says nothing but the words of the kind.
    pub fn is_plain(&self, kind: Kind) -> bool {
        self.kind == kind && self.message == Message::Default
    }

    /// Whether the error is of this kind and says a reason after the words of the kind, as [`Error::because`] does.
    pub fn has_reason(&self, kind: Kind) -> bool {
        self.kind == kind && matches!(self.message, Message::Reason(_))
    }

    /// Whether the error is of this kind and says a sentence alone, as [`Error::whole`] does.
    pub fn is_whole(&self, kind: Kind) -> bool {
        self.kind == kind && matches!(self.message, Message::Whole(_))
    }

    /// Whether the error tells of fields with invalid values, as [`Error::invalid`] does.
    pub fn is_invalid(&self) -> bool {
        self.kind == Kind::BadRequest && matches!(self.message, Message::Fields(_))
    }

    /// Whether the error names a thing that does not exist (any more), as [`Error::not_found`] does. [`Error::missing`] is
    /// no such error: what it reports may be a damaged repository.
    pub fn is_gone(&self) -> bool {
        self.kind == Kind::NotFound && matches!(self.message, Message::Subject(_))
    }

    /// As [`Error::is_gone`], of the thing with this name: `Repository`.
    pub fn is_not_found(&self, what: &str) -> bool {
        self.kind == Kind::NotFound
            && matches!(&self.message, Message::Subject(named) if named == what)
    }

    /// The cause of a failure for which [`Error::is_ours`] holds.
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    /// The seconds after which the caller may try again.
    pub fn retry_after(&self) -> Option<u64> {
        match self.kind {
            Kind::TooMany { retry_after } => Some(retry_after),
            _ => None,
        }
    }
}

/// The message of a known form, for callers that say it otherwise.
impl Error {
    pub fn into_message(self) -> Message {
        self.0.message
    }

    /// # Errors
    /// The error itself, unless [`Error::is_invalid`] holds for it.
    pub fn into_fields(self) -> Result<FieldErrors> {
        match self.0.message {
            Message::Fields(fields) if self.0.kind == Kind::BadRequest => Ok(fields),
            message => Err(Self::new(self.0.kind, message, self.0.cause)),
        }
    }

    /// # Errors
    /// The error itself, unless [`Error::is_whole`] holds for it.
    pub fn into_whole(self, kind: Kind) -> Result<String> {
        match self.0.message {
            Message::Whole(text) if self.0.kind == kind => Ok(text),
            message => Err(Self::new(self.0.kind, message, self.0.cause)),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("cause", &self.cause)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Message::Default | Message::Hidden => f.write_str(self.kind.words()),
            Message::Subject(what) => write!(f, "{what} not found"),
            Message::LogOnly(what) if self.kind == Kind::TooLarge => write!(f, "too large: {what}"),
            Message::Reason(text)
            | Message::State(text)
            | Message::Whole(text)
            | Message::Parameters(text)
            | Message::Limit(text)
            | Message::Coded { text, .. }
            | Message::LogOnly(text) => f.write_str(text),
            Message::Sentences(texts) => f.write_str(&texts.join(", ")),
            Message::Fields(_) if self.kind == Kind::Conflict => f.write_str("conflicting record"),
            Message::Fields(_) => f.write_str("invalid record"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let cause: &(dyn StdError + 'static) = self.cause.as_deref()?;
        Some(cause)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::{Error, Kind, Message};

    #[test]
    fn a_result_with_an_error_is_one_pointer() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }

    #[test]
    fn only_what_is_not_the_callers_has_a_cause() {
        let broken = Error::internal("broken");
        assert!(broken.is_ours() && !broken.is_of_machine());
        assert_eq!(broken.source().map(ToString::to_string).as_deref(), Some("broken"));
        let away = Error::out_of_reach("away");
        assert!(away.is_ours() && away.is_of_machine());
        let locked = Error::unavailable("locked");
        assert_eq!(locked.kind, Kind::Unavailable);
        assert!(!locked.is_ours() && !locked.is_of_machine());
    }

    #[test]
    fn a_message_is_taken_from_the_kind_that_was_asked_for() {
        let fields = Error::invalid("title", "is blank").into_fields().unwrap();
        assert_eq!(fields, [("title".to_owned(), vec!["is blank".to_owned()])]);
        let conflict = Error::conflict().fields(fields).into_fields().unwrap_err();
        assert!(conflict.kind == Kind::Conflict && !conflict.is_invalid());
        let taken = || Error::conflict().whole("It is taken.");
        assert_eq!(taken().into_whole(Kind::Conflict).unwrap(), "It is taken.");
        assert!(taken().into_whole(Kind::BadRequest).unwrap_err().is_whole(Kind::Conflict));
        assert!(Error::internal("broken").into_whole(Kind::Internal).unwrap_err().is_ours());
    }

    #[test]
    fn an_error_shows_its_parts_to_the_log() {
        let text = format!("{:?}", Error::too_many(3));
        let kind = "kind: TooMany { retry_after: 3 }";
        assert_eq!(text, format!("Error {{ {kind}, message: Default, cause: None }}"));
    }

    #[test]
    fn what_is_gone_was_named() {
        let project = Error::not_found("Project");
        assert!(project.is_gone() && project.is_not_found("Project"));
        assert!(!project.is_not_found("File"));
        assert!(!Error::missing().is_gone() && !Error::hidden().is_gone());
    }

    #[test]
    fn a_message_changes_the_words_and_not_the_kind() {
        let refused = Error::forbidden().because("no");
        assert_eq!(refused.kind, Kind::Forbidden);
        assert_eq!(refused.message, Message::Reason("no".to_owned()));
        let texts = [
            refused,
            Error::forbidden(),
            Error::not_found("File"),
            Error::missing().named("User 'ada'".to_owned()),
            Error::conflict().sentences(vec!["one".to_owned(), "two".to_owned()]),
            Error::too_large("a body"),
            Error::bad_request().coded("Sorry", "empty"),
        ];
        let wanted = [
            "no",
            "forbidden",
            "File not found",
            "User 'ada' not found",
            "one, two",
            "too large: a body",
            "Sorry",
        ];
        assert_eq!(texts.map(|error| error.to_string()), wanted);
    }
}
