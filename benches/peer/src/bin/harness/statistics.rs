//! What is told of many samples.

/// The one in the middle.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least: where the device is waited for, everything else is waiting.
pub(crate) fn least(samples: Vec<f64>) -> f64 {
    samples.into_iter().fold(f64::NAN, f64::min)
}
