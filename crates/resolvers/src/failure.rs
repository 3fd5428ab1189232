//! The failures of the domains, as those of GraphQL fields and as sentences in the payloads of mutations.

use graphql::Failure;
use kernel::{
    Error,
    error::{Kind, Message},
};

/// What a field fails with.
pub fn failure_of(error: Error) -> Failure {
    match error.kind {
        Kind::Unauthenticated | Kind::Forbidden | Kind::NotFound => Failure::NotFoundOrForbidden,
        Kind::TooMany { .. } => Failure::TooManyRequests,
        Kind::Unavailable | Kind::GaveWay => unavailable(&error),
        Kind::Full | Kind::Internal => Failure::internal(error),
        _ => Failure::Message(sentences(&error).join(", ")),
    }
}

/// What the machine lacks at the moment; callers may try again.
fn unavailable(error: &Error) -> Failure {
    match error.is_ours() {
        true => {
            tracing::error!(%error, "a GraphQL field failed");
            Failure::Timeout
        }
        false => Failure::Message(sentences(error).join(", ")),
    }
}

/// Nothing, where the caller may not know whether there is something.
///
/// # Errors
/// For all else that went wrong.
pub fn visible<T>(found: Result<T, Error>) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.kind {
            Kind::Unauthenticated | Kind::Forbidden | Kind::NotFound => Ok(None),
            _ => Err(failure_of(error)),
        },
    }
}

/// What a mutation did, or the sentences that say why it did not.
///
/// # Errors
/// For what is no failure of the business: absent resources, missing rights, faults of the program.
pub fn done<T>(result: Result<T, Error>) -> Result<Result<T, Vec<String>>, Failure> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(error) => business_failure(error).map(Err),
    }
}

fn business_failure(error: Error) -> Result<Vec<String>, Failure> {
    match error.kind {
        Kind::BadRequest
        | Kind::Unprocessable
        | Kind::Conflict
        | Kind::Precondition
        | Kind::NotAcceptable
        | Kind::NotAllowed
        | Kind::TooLarge => Ok(sentences(&error)),
        // Those who have the permission are told of limits and states that are in the way.
        Kind::Forbidden if matches!(error.message, Message::Limit(_) | Message::State(_)) => {
            Ok(sentences(&error))
        }
        _ => Err(failure_of(error)),
    }
}

/// The message as whole sentences.
fn sentences(error: &Error) -> Vec<String> {
    match &error.message {
        Message::Sentences(texts) => texts.clone(),
        Message::Fields(fields) => fields
            .iter()
            .flat_map(|(field, texts)| texts.iter().map(|text| sentence(field, text)))
            .collect(),
        Message::Reason(text)
        | Message::State(text)
        | Message::Whole(text)
        | Message::Parameters(text)
        | Message::Limit(text)
        | Message::Coded { text, .. } => vec![text.clone()],
        Message::Default | Message::Hidden | Message::Subject(_) | Message::LogOnly(_) => {
            vec![capital(&error.to_string())]
        }
    }
}

/// `title` and `can't be blank` become `Title can't be blank`; what is said of the record as a whole is a sentence
/// already.
fn sentence(field: &str, text: &str) -> String {
    match field {
        "base" | "" => text.to_owned(),
        _ => format!("{} {text}", capital(&field.replace(['_', '.'], " "))),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use graphql::Failure;
    use kernel::Error;

    use super::{done, failure_of, visible};

    #[test]
    fn faults_of_fields_are_sentences_about_them() {
        let invalid = Error::invalid("source_branch", "can't be blank");
        let said = done::<()>(Err(invalid)).expect("a failure of the business");
        assert_eq!(said, Err(vec!["Source branch can't be blank".to_owned()]));
    }

    #[test]
    fn what_is_said_of_the_whole_record_stays_as_it_is() {
        let said = done::<()>(Err(Error::invalid("base", "Too many already"))).expect("business");
        assert_eq!(said, Err(vec!["Too many already".to_owned()]));
    }

    #[test]
    fn absent_and_forbidden_things_read_alike() {
        for error in [Error::missing(), Error::forbidden(), Error::unauthenticated()] {
            assert!(matches!(failure_of(error), Failure::NotFoundOrForbidden));
        }
        assert!(matches!(done::<()>(Err(Error::hidden())), Err(Failure::NotFoundOrForbidden)));
    }

    #[test]
    fn a_state_that_is_in_the_way_is_told_to_those_who_may_change_it() {
        let ended = Error::forbidden().in_this_state("Job is not retryable");
        let said = done::<()>(Err(ended)).expect("a failure of the business");
        assert_eq!(said, Err(vec!["Job is not retryable".to_owned()]));
    }

    #[test]
    fn what_may_not_be_seen_is_nothing() {
        assert!(matches!(visible::<()>(Err(Error::forbidden())), Ok(None)));
        assert!(matches!(visible(Ok(1)), Ok(Some(1))));
    }

    #[test]
    fn a_fault_of_the_program_tells_nothing() {
        let failure = failure_of(Error::internal("the secret cause"));
        assert_eq!(failure.to_string(), "Internal server error");
    }
}
