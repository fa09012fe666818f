/** Version of what is said on the native door. It grows only when a client of the version before would misunderstand. */
export const nativeProtocol = 1
