//! Futures that are awaited together.

use futures_util::{
    FutureExt,
    future::{self, BoxFuture, TryJoinAll},
};

/// The answers of all futures, in their order, or an error. Each future is boxed: the wait is then compiled once for a type of
/// answers, and not for each type of futures.
pub(crate) fn try_join_all<'a, I, T, E>(futures: I) -> TryJoinAll<BoxFuture<'a, Result<T, E>>>
where
    I: IntoIterator,
    I::Item: Future<Output = Result<T, E>> + Send + 'a,
{
    let boxed: Vec<BoxFuture<'a, Result<T, E>>> =
        futures.into_iter().map(FutureExt::boxed).collect();
    future::try_join_all(boxed)
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures_util::FutureExt as _;

    use super::try_join_all;

    #[test]
    fn many_answers_come_in_the_order_of_their_futures_and_an_error_instead_of_them() {
        let below_40 =
            |number: usize| async move { if number < 40 { Ok(number) } else { Err("big") } };

        let all = try_join_all((0..40).map(below_40)).now_or_never();
        assert_eq!(all, Some(Ok((0..40).collect())));
        assert_eq!(try_join_all((38..41).map(below_40)).now_or_never(), Some(Err("big")));
        assert_eq!(try_join_all([ready(Ok::<_, ()>(1))]).now_or_never(), Some(Ok(vec![1])));
    }
}
