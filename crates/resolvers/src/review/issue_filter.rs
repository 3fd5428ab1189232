//! Filters and sort order of issue lists.

use db::Tx;
use graphql::{Arguments, Failure};
use kernel::{Actor, Result as Kept, TextEnum as _};
use org::user::names::{all_people, known_people, person};
use review::{
    epic::EpicStore as _,
    issue::{
        HealthStatus, IssueState, IssueType,
        list::{IssueFilter, IterationChoice, NotFilter},
    },
    item::list::{
        AnyCommon, Choice, Common, Direction, Fields, MilestoneChoice, NotCommon, Order, Search,
        Sorting,
    },
};

use super::item_filter::{
    ensure_short, iids, labels, last_moment, milestones, moment, named, number_choice, text_choice,
    word,
};

/// The arguments of a list of issues, checked as far as possible without the database.
#[derive(Clone, Debug)]
pub struct IssueListArguments {
    filter: IssueFilter,
    /// Whether issues of epics inside the epic count.
    with_subepics: bool,
    people: People,
    pub sorting: Sorting,
    /// Whether nothing can be found: it is asked for what there is not.
    pub nothing: bool,
}

/// People by their names.
#[derive(Clone, Debug, Default)]
struct People {
    author: Option<String>,
    assignees: Option<Vec<String>>,
    not_author: Option<String>,
    not_assignees: Option<Vec<String>>,
    any_authors: Vec<String>,
    any_assignees: Vec<String>,
}

/// The arguments that say which issues are wanted.
const FILTERS: &[&str] = &[
    "assigneeId",
    "assigneeUsername",
    "assigneeUsernames",
    "authorUsername",
    "closedAfter",
    "closedBefore",
    "confidential",
    "createdAfter",
    "createdBefore",
    "crmContactId",
    "crmOrganizationId",
    "epicId",
    "healthStatusFilter",
    "iid",
    "iids",
    "iterationId",
    "iterationWildcardId",
    "labelName",
    "milestoneTitle",
    "milestoneWildcardId",
    "myReactionEmoji",
    "not",
    "or",
    "search",
    "state",
    "types",
    "updatedAfter",
    "updatedBefore",
    "weight",
];

/// Those of them that are lists, and those of `not` and `or`.
const LISTS: &[&str] = &[
    "assigneeUsernames",
    "authorUsernames",
    "iids",
    "in",
    "iterationId",
    "labelName",
    "labelNames",
    "milestoneTitle",
    "types",
];

/// Whether one of them was given.
pub fn is_filtered(arguments: &Arguments) -> bool {
    FILTERS.iter().any(|name| arguments.json(name).is_some())
}

impl IssueListArguments {
    /// # Errors
    /// For arguments that exclude each other, and values that are none.
    pub fn read(arguments: &Arguments) -> Result<Self, Failure> {
        exclusive(arguments, &["assigneeUsername", "assigneeUsernames", "assigneeId"])?;
        exclusive(arguments, &["milestoneTitle", "milestoneWildcardId"])?;
        exclusive(arguments, &["iterationId", "iterationWildcardId"])?;
        let (not, alternatives) = (arguments.object("not"), arguments.object("or"));
        for given in [Some(arguments), not.as_ref(), alternatives.as_ref()].into_iter().flatten() {
            ensure_short(given, LISTS)?;
        }
        let mut assignees = arguments.maybe_texts("assigneeUsernames");
        if let Some(name) = arguments.maybe_text("assigneeUsername") {
            assignees.get_or_insert_default().push(name);
        }
        let texts = |of: &Option<Arguments>, name: &str| {
            of.as_ref().map(|of| of.texts(name)).unwrap_or_default()
        };
        let people = People {
            author: arguments.maybe_text("authorUsername"),
            assignees,
            not_author: not.as_ref().and_then(|not| not.maybe_text("authorUsername")),
            not_assignees: not.as_ref().and_then(|not| not.maybe_texts("assigneeUsernames")),
            any_authors: texts(&alternatives, "authorUsernames"),
            any_assignees: texts(&alternatives, "assigneeUsernames"),
        };
        let (types, has_unknown) = types(arguments);
        let asks_contacts = ["crmContactId", "crmOrganizationId"]
            .iter()
            .any(|name| arguments.maybe_text(name).is_some());
        let state = arguments.maybe_enum("state");
        let nothing = asks_contacts
            || (has_unknown && types.is_empty())
            || state.as_deref() == Some("locked");
        let filter = IssueFilter {
            common: common(arguments, not.as_ref(), texts(&alternatives, "labelNames"))?,
            state: state.as_deref().and_then(IssueState::find),
            types,
            closed_after: moment(arguments, "closedAfter")?,
            closed_before: last_moment(arguments, "closedBefore")?,
            confidential: arguments.maybe_bool("confidential"),
            weight: number_choice(arguments, "weight"),
            epic: number_choice(arguments, "epicId"),
            iteration: iterations(arguments)?,
            health: arguments
                .maybe_enum("healthStatusFilter")
                .and_then(|text| word(&text).or_else(|| health(&text).map(Choice::These))),
            not: not.as_ref().map(left_out).transpose()?.unwrap_or_default(),
            ..IssueFilter::default()
        };
        let sorting = sorting(arguments.maybe_enum("sort").as_deref().unwrap_or("CREATED_DESC"));
        let with_subepics = arguments.flag("includeSubepics");
        Ok(Self { filter, with_subepics, people, sorting, nothing })
    }

    /// The filter, with the people that it names.
    pub fn filter(&self, tx: &mut Tx<'_>, actor: Actor) -> Kept<IssueFilter> {
        let mut filter = self.filter.clone();
        let people = &self.people;
        filter.common.authors.extend(named(tx, people.author.as_ref())?);
        if let Some(names) = &people.assignees {
            filter.common.assignees.push(Choice::These(all_people(tx, names)?));
        }
        if let Some(name) = &people.not_author {
            filter.common.not.author = person(tx, name)?;
        }
        if let Some(names) = &people.not_assignees {
            filter.common.not.assignee = Some(Choice::These(known_people(tx, names)?));
        }
        filter.common.any.authors = all_people(tx, &people.any_authors)?;
        filter.common.any.assignees = all_people(tx, &people.any_assignees)?;
        if let Some(Choice::These(epic)) = filter.epic
            && self.with_subepics
        {
            filter.subepics = inside_of(tx, epic)?;
        }
        // Nobody reacted to anything who is nobody.
        if actor.id.is_none() {
            filter.not.reaction = None;
        }
        Ok(filter)
    }
}

/// The epics inside an epic, at every depth.
fn inside_of(tx: &mut Tx<'_>, epic: i64) -> Kept<Vec<i64>> {
    let (mut all, mut level) = (Vec::new(), vec![epic]);
    while !level.is_empty() && all.len() < MOST_EPICS {
        level = tx.epics_inside(&level)?.iter().map(|child| child.id).collect();
        all.extend(&level);
    }
    Ok(all)
}

/// Further epics inside an epic are not looked for.
const MOST_EPICS: usize = 1_000;

fn exclusive(arguments: &Arguments, names: &[&str]) -> Result<(), Failure> {
    let given: Vec<&str> =
        names.iter().copied().filter(|name| arguments.json(name).is_some()).collect();
    match given.len() {
        0 | 1 => Ok(()),
        _ => Err(Failure::message(format!(
            "only one of [{}] arguments is allowed at the same time.",
            names.join(", ")
        ))),
    }
}

fn common(
    arguments: &Arguments,
    not: Option<&Arguments>,
    any_labels: Vec<String>,
) -> Result<Common, Failure> {
    let fields = arguments.texts("in");
    let fields = match (has(&fields, "TITLE"), has(&fields, "DESCRIPTION")) {
        (true, false) => Fields::Title,
        (false, true) => Fields::Description,
        _ => Fields::Both,
    };
    let people = |choice: Choice<i64>| match choice {
        Choice::Nothing => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(id) => Choice::These(vec![kernel::ids::UserId(id)]),
    };
    Ok(Common {
        created_after: moment(arguments, "createdAfter")?,
        created_before: last_moment(arguments, "createdBefore")?,
        updated_after: moment(arguments, "updatedAfter")?,
        updated_before: last_moment(arguments, "updatedBefore")?,
        search: arguments.maybe_text("search").map(|text| Search { text, fields }),
        authors: Vec::new(),
        assignees: number_choice(arguments, "assigneeId").map(people).into_iter().collect(),
        iids: iids(arguments).filter(|iids| !iids.is_empty()),
        labels: labels(arguments, "labelName"),
        milestone: milestones(arguments.texts("milestoneTitle")).or_else(|| {
            arguments.maybe_enum("milestoneWildcardId").as_deref().and_then(milestone_word)
        }),
        reaction: text_choice(arguments, "myReactionEmoji"),
        any: AnyCommon { labels: any_labels, ..AnyCommon::default() },
        not: NotCommon {
            labels: not.map(|not| not.texts("labelName")).unwrap_or_default(),
            milestone: not.and_then(|not| {
                milestones(not.texts("milestoneTitle")).or_else(|| {
                    not.maybe_enum("milestoneWildcardId").as_deref().and_then(milestone_left_out)
                })
            }),
            author: None,
            assignee: not.and_then(|not| number_choice(not, "assigneeId")).map(people),
        },
        bounds: Vec::new(),
    })
}

fn has(all: &[String], word: &str) -> bool {
    all.iter().any(|one| one == word)
}

fn milestone_word(word: &str) -> Option<Choice<MilestoneChoice>> {
    match word {
        "NONE" => Some(Choice::Nothing),
        "ANY" => Some(Choice::Anything),
        "STARTED" => Some(Choice::These(MilestoneChoice::Started)),
        "UPCOMING" => Some(Choice::These(MilestoneChoice::Upcoming)),
        _ => None,
    }
}

/// Of those that are left out by a word, the other side is wanted.
fn milestone_left_out(word: &str) -> Option<Choice<MilestoneChoice>> {
    match word {
        "STARTED" => Some(Choice::These(MilestoneChoice::Ahead)),
        "UPCOMING" => Some(Choice::These(MilestoneChoice::Ended)),
        _ => None,
    }
}

/// The types that are asked for, and whether there is one that no issue here has.
fn types(arguments: &Arguments) -> (Vec<IssueType>, bool) {
    let given = arguments.texts("types");
    let known: Vec<IssueType> =
        given.iter().filter_map(|name| IssueType::find(&name.to_lowercase())).collect();
    let has_unknown = known.len() < given.len();
    (known, has_unknown)
}

fn iterations(arguments: &Arguments) -> Result<Option<Choice<IterationChoice>>, Failure> {
    if let Some(word) = arguments.maybe_enum("iterationWildcardId") {
        return Ok(match word.as_str() {
            "NONE" => Some(Choice::Nothing),
            "ANY" => Some(Choice::Anything),
            _ => Some(Choice::These(IterationChoice::Current)),
        });
    }
    let ids: Vec<i64> = arguments
        .texts("iterationId")
        .iter()
        .map(|text| text.rsplit('/').next().and_then(|id| id.parse().ok()).unwrap_or(0))
        .collect();
    Ok(match ids.as_slice() {
        [] => None,
        [one] => Some(Choice::These(IterationChoice::Id(*one))),
        _ => Some(Choice::These(IterationChoice::OneOf(ids))),
    })
}

pub fn health(text: &str) -> Option<HealthStatus> {
    match text {
        "onTrack" => Some(HealthStatus::OnTrack),
        "needsAttention" => Some(HealthStatus::NeedsAttention),
        "atRisk" => Some(HealthStatus::AtRisk),
        _ => None,
    }
}

fn left_out(not: &Arguments) -> Result<NotFilter, Failure> {
    Ok(NotFilter {
        iids: iids(not).filter(|iids| !iids.is_empty()),
        weight: number_choice(not, "weight"),
        epic: number_choice(not, "epicId"),
        iteration: iterations(not)?,
        types: types(not).0,
        health: not.maybe_enum("healthStatusFilter").as_deref().and_then(health),
        reaction: not.maybe_text("myReactionEmoji"),
    })
}

const SEVERITIES: &[&str] = &["unknown", "low", "medium", "high", "critical"];
const HEALTH: &[&str] = &["on_track", "needs_attention", "at_risk"];

/// The order that a value of `IssueSort` names. What issues here have not leaves them as they were made.
pub fn sorting(name: &str) -> Sorting {
    let name = name.to_uppercase();
    let (what, direction) = match name.strip_suffix("_ASC") {
        Some(what) => (what, Direction::Ascending),
        None => (name.strip_suffix("_DESC").unwrap_or(&name), Direction::Descending),
    };
    let by = match what {
        "UPDATED" => Order::Column("updated_at"),
        "DUE_DATE" => Order::Optional("due_date"),
        "LABEL_PRIORITY" => Order::LabelPriority,
        "MILESTONE_DUE" => Order::MilestoneDue,
        "PRIORITY" => Order::Priority,
        "RELATIVE_POSITION" => Order::Column("relative_position"),
        "SEVERITY" => Order::Ranked("severity", SEVERITIES),
        "TITLE" => Order::Title,
        "POPULARITY" => Order::Column("upvotes"),
        "CLOSED_AT" => Order::Optional("closed_at"),
        "WEIGHT" => Order::Optional("weight"),
        "HEALTH_STATUS" => Order::Ranked("health_status", HEALTH),
        "BLOCKING_ISSUES" => Order::Column("blocking_issues_count"),
        "CREATED" => Order::Id,
        _ => return Sorting { by: Order::Id, direction: Direction::Descending },
    };
    Sorting { by, direction }
}

#[cfg(test)]
mod tests {
    use review::item::list::{Direction, Order};

    use super::sorting;

    #[test]
    fn an_order_is_named_in_either_case() {
        for (name, by, direction) in [
            ("CREATED_DESC", Order::Id, Direction::Descending),
            ("created_asc", Order::Id, Direction::Ascending),
            ("UPDATED_ASC", Order::Column("updated_at"), Direction::Ascending),
            ("RELATIVE_POSITION_ASC", Order::Column("relative_position"), Direction::Ascending),
            ("SLA_DUE_AT_ASC", Order::Id, Direction::Descending),
        ] {
            let sorting = sorting(name);
            assert_eq!((sorting.by, sorting.direction), (by, direction), "{name}");
        }
    }
}
