// Models to begin with: what their config.json says of positions, and where it was read.

import list from "./presets.json";

export interface Preset {
  name: string;
  /** Where the values were read: projects with commits, or the hub. */
  source: string;
  /** false: the defaults of the model's code, no published config was seen. */
  verified: boolean;
  /** The keys of the config.json that matter here. */
  config: Readonly<Record<string, unknown>>;
}

export const PRESETS: readonly Preset[] = list;

/** The preset as the text of a config.json. */
export const presetText = ({ config }: Preset): string => `${JSON.stringify(config, null, 2)}\n`;
