// Fields of forms: each has its label and a line of help.
import { FormGroup, FormSelect, FormSelectOption, TextArea, TextInput } from "../patternfly";
import { useId } from "react";

interface FieldProps {
  label: string;
  value: string;
  help?: string;
  testId?: string;
  onChange(value: string): void;
}

function Help({ id, help }: { id: string; help?: string }) {
  if (!help) return null;
  return (
    <p className="sy-subtle" id={`${id}-help`}>
      {help}
    </p>
  );
}

export function TextField({ label, value, help, testId, onChange }: FieldProps) {
  const id = useId();
  return (
    <FormGroup label={label} fieldId={id}>
      <TextInput
        id={id}
        value={value}
        data-testid={testId}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(_event, next) => onChange(next)}
      />
      <Help id={id} help={help} />
    </FormGroup>
  );
}

// A line for each word.
export function LinesField({ label, value, help, testId, onChange }: FieldProps) {
  const id = useId();
  return (
    <FormGroup label={label} fieldId={id}>
      <TextArea
        id={id}
        value={value}
        rows={3}
        resizeOrientation="vertical"
        data-testid={testId}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(_event, next) => onChange(next)}
      />
      <Help id={id} help={help} />
    </FormGroup>
  );
}

interface ChoiceProps extends FieldProps {
  choices: readonly (string | { value: string; text: string })[];
}

export function ChoiceField({ label, value, help, testId, choices, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <FormGroup label={label} fieldId={id}>
      <FormSelect
        id={id}
        value={value}
        data-testid={testId}
        onChange={(_event, next) => onChange(next)}
      >
        {choices.map((choice) => {
          const { value: one, text } =
            typeof choice === "string" ? { value: choice, text: choice } : choice;
          return <FormSelectOption key={one} value={one} label={text} />;
        })}
      </FormSelect>
      <Help id={id} help={help} />
    </FormGroup>
  );
}
