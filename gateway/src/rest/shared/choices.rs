//! Filters that take a value, or `None` and `Any`.

use kernel::{TextEnum as _, ids::UserId};
use review::{
    issue::{HealthStatus, list::IterationChoice},
    item::list::{Choice, Fields, MilestoneChoice},
};
use serde_json::{Value, json};

use crate::extract::{Csv, Param, ParamErrors, Raw, params::NOT_LISTED};

/// `None` and `Any`, whatever their letter case.
fn word<T>(text: &str) -> Option<Choice<T>> {
    if text.eq_ignore_ascii_case("none") {
        Some(Choice::Nothing)
    } else if text.eq_ignore_ascii_case("any") {
        Some(Choice::Anything)
    } else {
        None
    }
}

/// A number, `None` or `Any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberChoice(pub Choice<i64>);

impl Param for NumberChoice {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(choice) = word(text) {
            return Ok(Some(Self(choice)));
        }
        match text.parse() {
            Ok(number) => Ok(Some(Self(Choice::These(number)))),
            Err(_) => Err(ParamErrors::one(format!(
                "should be an integer, none, or any, however got {text}"
            ))),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer" })
    }
}

/// The id of an iteration, `None`, `Any` or `Current`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationWord(pub Choice<IterationChoice>);

impl Param for IterationWord {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        if String::read(raw)?.is_some_and(|text| text.trim().eq_ignore_ascii_case("current")) {
            return Ok(Some(Self(Choice::These(IterationChoice::Current))));
        }
        let choice = NumberChoice::read(raw)?;
        Ok(choice.map(|NumberChoice(choice)| match choice {
            Choice::Nothing => Self(Choice::Nothing),
            Choice::Anything => Self(Choice::Anything),
            Choice::These(id) => Self(Choice::These(IterationChoice::Id(id))),
        }))
    }

    fn schema() -> Value {
        NumberChoice::schema()
    }
}

/// Texts with commas between, or `None` and `Any`; older clients say `No Label`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextsChoice(pub Choice<Vec<String>>);

impl Param for TextsChoice {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(Csv(names)) = Csv::<String>::read(raw)? else { return Ok(None) };
        Ok(match names.as_slice() {
            [] => None,
            [one] if one.eq_ignore_ascii_case("no label") => Some(Self(Choice::Nothing)),
            [one] => Some(Self(word(one).unwrap_or(Choice::These(names)))),
            _ => Some(Self(Choice::These(names))),
        })
    }

    fn schema() -> Value {
        Csv::<String>::schema()
    }
}

/// People by their ids, or `None` and `Any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleChoice(pub Choice<Vec<UserId>>);

/// Further people are passed over.
pub const MOST_PEOPLE: usize = 5;

impl Param for PeopleChoice {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(Csv(given)) = Csv::<String>::read(raw)? else { return Ok(None) };
        if let [one] = given.as_slice()
            && let Some(choice) = word(one)
        {
            return Ok(Some(Self(choice)));
        }
        let mut people: Vec<UserId> = Vec::new();
        for text in &given {
            let Ok(id) = text.trim().parse() else {
                let flaw = format!("should be an array, 'None' or 'Any', however got {text}");
                return Err(ParamErrors::one(flaw));
            };
            if !people.contains(&UserId(id)) && people.len() < MOST_PEOPLE {
                people.push(UserId(id));
            }
        }
        Ok((!people.is_empty()).then_some(Self(Choice::These(people))))
    }

    fn schema() -> Value {
        Csv::<i64>::schema()
    }
}

/// One text, `None` or `Any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChoice(pub Choice<String>);

impl Param for TextChoice {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let text = String::read(raw)?.filter(|text| !text.trim().is_empty());
        Ok(text.map(|text| Self(word(&text).unwrap_or(Choice::These(text)))))
    }

    fn schema() -> Value {
        String::schema()
    }
}

impl TextChoice {
    pub fn into_iteration(self) -> Choice<IterationChoice> {
        match self.0 {
            Choice::Nothing => Choice::Nothing,
            Choice::Anything => Choice::Anything,
            Choice::These(title) => Choice::These(IterationChoice::Titled(title)),
        }
    }

    pub fn into_milestone(self) -> Choice<MilestoneChoice> {
        match self.0 {
            Choice::Nothing => Choice::Nothing,
            Choice::Anything => Choice::Anything,
            Choice::These(title) => Choice::These(MilestoneChoice::Titled(title)),
        }
    }
}

kernel::text_enum! {
    /// Which milestones, by what they are.
    pub enum MilestoneWord { None = "None", Any = "Any", Upcoming = "Upcoming", Started = "Started" }
}

crate::param_enums! { MilestoneWord }

impl From<MilestoneWord> for Choice<MilestoneChoice> {
    fn from(word: MilestoneWord) -> Self {
        match word {
            MilestoneWord::None => Self::Nothing,
            MilestoneWord::Any => Self::Anything,
            MilestoneWord::Upcoming => Self::These(MilestoneChoice::Upcoming),
            MilestoneWord::Started => Self::These(MilestoneChoice::Started),
        }
    }
}

impl MilestoneWord {
    /// What is left out: of those that are wanted by the same word, the other side.
    pub fn into_left_out(self) -> Choice<MilestoneChoice> {
        match self {
            Self::Upcoming => Choice::These(MilestoneChoice::Ended),
            Self::Started => Choice::These(MilestoneChoice::Ahead),
            other => other.into(),
        }
    }
}

/// How things go with an issue, `None` or `Any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthChoice(pub Choice<HealthStatus>);

impl Param for HealthChoice {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let status = || HealthStatus::find(&text).map(Choice::These);
        word(&text)
            .or_else(status)
            .map(|choice| Some(Self(choice)))
            .ok_or(ParamErrors::one(NOT_LISTED))
    }

    fn schema() -> Value {
        let mut all: Vec<&str> = HealthStatus::ALL.iter().map(|status| status.as_str()).collect();
        all.extend(["None", "Any"]);
        json!({ "type": "string", "enum": all })
    }
}

/// `title`, `description`, or both with a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedFields(pub Fields);

impl Param for SearchedFields {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(Csv(names)) = Csv::<String>::read(raw)? else { return Ok(None) };
        let names = |name: &str| names.iter().any(|other| other == name);
        Ok(Some(Self(match (names("title"), names("description")) {
            (true, false) => Fields::Title,
            (false, true) => Fields::Description,
            _ => Fields::Both,
        })))
    }

    fn schema() -> Value {
        String::schema()
    }
}
