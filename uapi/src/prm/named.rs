//! Constants that a number can be turned back into.

/// Declares constants that share a prefix, and the function that names a value without the prefix.
macro_rules! named_constants {
    ($(#[$function_doc:meta])* $function:ident: $type:ty, $prefix:literal {
        $($(#[$doc:meta])* $name:ident = $value:literal),* $(,)?
    }) => {
        $(
            $(#[$doc])*
            #[doc = concat!("\n\nThe number is ", stringify!($value), ".")]
            pub const $name: $type = $value;
        )*

        $(#[$function_doc])*
        #[must_use]
        pub fn $function(value: $type) -> Option<&'static str> {
            match value {
                $($value => stringify!($name).strip_prefix($prefix),)*
                _ => None,
            }
        }
    };
}

pub(super) use named_constants;
