/** The part of JSON Schema that the OpenAPI document uses. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly examples?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly oneOf?: ReadonlyArray<Shape>
  readonly allOf?: ReadonlyArray<Shape>
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Shape
  readonly items?: Shape
  readonly prefixItems?: ReadonlyArray<Shape>
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}
export type Shapes = Readonly<Record<string, Shape>>

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<Record<string, ReadonlyArray<string>>>
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: Shape
  }>
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Shape }> }
  readonly responses: Record<
    string,
    {
      readonly description: string
      readonly headers?: Record<string, { readonly schema: Shape }>
      readonly content: Record<
        string,
        { readonly schema: Shape; readonly examples?: Readonly<Record<string, unknown>> }
      >
    }
  >
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

/** The name of the schema that a `$ref` refers to. Undefined if the shape is not a `$ref`. */
export const referred = ({ $ref }: Shape): string | undefined =>
  $ref === undefined ? undefined : nameOf($ref)

/** Returns the shape with its `allOf` parts merged into it. */
export const whole = (shape: Shape): Shape =>
  shape.allOf === undefined ? shape : Object.assign({}, ...shape.allOf.map(whole), shape)

export const resolve = (shape: Shape, shapes: Shapes): Shape => {
  const name = referred(shape)
  return name === undefined ? whole(shape) : resolve(shapes[name] ?? {}, shapes)
}
